import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const scripts = new URL("../../../scripts/chunks.mjs", import.meta.url).href;

// npm runs the build of a package in the directory of that package.
it.each(["", "packages/cli"])("the packages of a chunk are found in the directory %j", (directory) => {
  const parts = mkdtempSync(join(tmpdir(), "codex chunks-"));
  onTestFinished(() => rmSync(parts, { recursive: true }));
  const entry = join(root, "packages/clock/src/index.ts");
  const program = `
    import { buildChunks } from ${JSON.stringify(scripts)};
    const options = { entryPoints: { clock: ${JSON.stringify(entry)} }, bundle: true, platform: "node", target: "node20" };
    const chunks = await buildChunks(options, ${JSON.stringify(parts)});
    console.log([...chunks.values()].map(({ packages }) => [...new Set(packages)]).flat().join());
  `;
  const words = ["--input-type=module", "-e", program];
  const found = execFileSync(process.execPath, words, { cwd: join(root, directory), encoding: "utf8" });
  expect(found).toBe("clock\n");
});
