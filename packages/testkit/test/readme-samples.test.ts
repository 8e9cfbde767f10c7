// Every package tells in its README how it is used; what is marked `js` there is a whole program, and runs.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const names = readdirSync(packages);

/** A program starts others, on a machine that is busy. */
const SLOW_MS = 60_000;
const MAX_README_LINES = 80;

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "codex readme-"));
  mkdirSync(join(project, "node_modules/@codex"), { recursive: true });
  for (const name of names) symlinkSync(join(packages, name), join(project, "node_modules/@codex", name));
});
afterAll(() => rmSync(project, { recursive: true }));

const readReadme = (name: string): string => readFileSync(join(packages, name, "README.md"), "utf8");

const PROGRAM = /^```js\n([\s\S]*?)^```$/gm;
const programs = names.flatMap((name) =>
  [...readReadme(name).matchAll(PROGRAM)].map(([, code = ""], index) => ({ name, index, code })),
);

it.each(names)("the README of %s has at most a page", (name) => {
  expect(readReadme(name).split("\n").length).toBeLessThanOrEqual(MAX_README_LINES);
});

describe("a program in the README", { timeout: SLOW_MS }, () => {
  it.each(programs)("of $name runs ($index)", async ({ name, index, code }) => {
    const file = join(project, `${name}-${index}.mjs`);
    writeFileSync(file, code);
    const env = { PATH: process.env.PATH, HOME: project, TMPDIR: project };
    const child = spawn(process.execPath, [file], { cwd: project, env, stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const status = await new Promise((resolve) => child.once("close", resolve));
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});
