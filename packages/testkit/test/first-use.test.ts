// What `./scripts/codex` does in a new checkout: `scripts/test` would compile the packages first, and its PATH has their tools.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A build on a busy machine. */
const SLOW_MS = 120_000;

/** Nothing that is built, and nothing that the build does not need. */
const LEFT_OUT = ["dist", "test"];

let directory: string;
let checkout: string;

/** The sources, with dependencies installed by links to those of this checkout. */
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "codex first use-"));
  checkout = join(directory, "ö checkout");
  const copy = (path: string) =>
    cpSync(join(root, path), join(checkout, path), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !LEFT_OUT.includes(basename(source)) && !source.endsWith(".tsbuildinfo"),
    });
  mkdirSync(checkout);
  for (const file of ["package.json", "pnpm-lock.yaml", "tsconfig.base.json", "scripts", "packages"]) copy(file);
  const modules = readdirSync(join(root, "node_modules")).filter((name) => name !== ".pnpm");
  for (const name of modules) copy(join("node_modules", name));
  symlinkSync(join(root, "node_modules/.pnpm"), join(checkout, "node_modules/.pnpm"));
  writeFileSync(join(checkout, "node_modules/.installed"), "");
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs `scripts/codex` with a home of its own, and a proxy that nothing listens at. */
function codex(...args: string[]) {
  const PATH = process.env.PATH!.split(delimiter).filter((each) => !each.includes("node_modules"));
  const proxy = "http://127.0.0.1:9";
  const env = { PATH: PATH.join(delimiter), HOME: directory, http_proxy: proxy, HTTP_PROXY: proxy };
  const child = spawn(join(checkout, "scripts/codex"), args, { cwd: directory, env });
  return { child, stdout: child.stdout, stderr: text(child.stderr), closed: once(child, "close") };
}

it(
  "builds from sources alone on first use, once for two commands, and leaves stdin, stdout and the exit code to them",
  async () => {
    const runs = ["one", "two"].map((input) => {
      const { child, stdout, stderr, closed } = codex("run", "--", "sh", "-c", "cat; echo hi; exit 3");
      child.stdin.end(`${input}\n`);
      return Promise.all([text(stdout), closed, stderr]);
    });
    const [one, two] = await Promise.all(runs);
    const said = `${one![2]}${two![2]}`;
    expect([one!.slice(0, 2), two!.slice(0, 2)], said).toEqual([
      ["one\nhi\n", [3, null]],
      ["two\nhi\n", [3, null]],
    ]);
    expect(said).toBe("codex: building…\n");
  },
  SLOW_MS,
);

it("has built the view, which is not part of the bundle", async () => {
  const recording = join(directory, "demo.cast");
  writeFileSync(recording, '{"version":3,"term":{"cols":80,"rows":24}}\n[0.1,"o","hi"]\n');
  const { child, stdout, stderr, closed } = codex("view", recording);
  try {
    const [url] = await Promise.race([once(createInterface({ input: stdout }), "line"), stderr.then((said) => [said])]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  } finally {
    child.kill();
  }
  await closed;
  expect(await stderr).toBe("");
});
