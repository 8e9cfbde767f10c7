// scripts/render-recording.mjs makes docs/media/demo.svg from a recording of `codex run --record`.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const MAX_SVG_BYTES = 150_000;

function render(events: readonly (readonly [number, string, string])[]): string {
  const directory = mkdtempSync(join(tmpdir(), "codex svg-"));
  try {
    const cast = join(directory, "in.cast");
    const header = { version: 3, term: { cols: 20, rows: 3 }, command: "a & b" };
    writeFileSync(cast, [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join(""));
    execFileSync(process.execPath, [join(root, "scripts/render-recording.mjs"), cast, join(directory, "out.svg")]);
    return readFileSync(join(directory, "out.svg"), "utf8");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

it("renders what the terminal showed, and when", () => {
  const svg = render([
    [0, "o", "\u001b[32mone\u001b[0m <two>"],
    [1, "o", "\r\u001b[Kthree"],
    [1, "x", "0"],
  ]);
  expect(svg).toContain("<title>a &amp; b</title>");
  const lines = [...svg.matchAll(/<text .*<\/text>/g)].map(([line]) => line);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^<text y="28" class="k0">.*class="c2">one<.*>&lt;two&gt;</);
  expect(lines[1]).toMatch(/^<text y="28" class="l k1">.*>three</);
  expect(svg).toContain("@keyframes k0{0%{visibility:hidden}0%{visibility:visible}12.5%{visibility:hidden}}");
});

it("created the picture of the README, which is small and has no scripts", () => {
  const svg = readFileSync(join(root, "docs/media/demo.svg"), "utf8");
  expect(Buffer.byteLength(svg)).toBeLessThan(MAX_SVG_BYTES);
  expect(svg).toContain("prefers-color-scheme:dark");
  expect(svg).not.toMatch(/<script|href=|url\(/);
});
