import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { takeNodeOptions, withoutNodeOptions } from "@codex/servers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { codex, codexWords, finish, useCommand } from "./support.js";

const directory = mkdtempSync(join(tmpdir(), "node options "));
afterAll(() => rmSync(directory, { recursive: true }));

/** Tells of each process that loads it. */
const loads = join(directory, "loads");
const required = join(directory, "required.cjs");
writeFileSync(required, `require("fs").appendFileSync(${JSON.stringify(loads)}, process.pid + "\\n");`);
const imported = join(directory, "imported.mjs");
writeFileSync(imported, `import ${JSON.stringify(pathToFileURL(required).href)};`);

const OPTIONS = [
  `--require ${JSON.stringify(required)}`,
  `--import ${pathToFileURL(imported).href}`,
  `--experimental-loader ${pathToFileURL(imported).href}`,
] as const;

describe("NODE_OPTIONS of the environment", () => {
  const command = useCommand();
  beforeEach(() => rmSync(loads, { force: true }));
  /** Process ids; a loader is loaded by a thread of the process as well. */
  const loaded = () =>
    existsSync(loads) ? [...new Set(readFileSync(loads, "utf8").trim().split("\n"))].map(Number) : [];
  const printed = ["-T", "--", "sh", "-c", 'echo "$NODE_OPTIONS"; env | grep CODEX_COMMANDS'];

  it.each(OPTIONS)("%s does not reach an executor that is started, and reaches its commands", async (options) => {
    const args = ["run", "--executor", `${codexWords} executor`, ...printed];
    const child = command.start(args, { NODE_OPTIONS: options });
    const { stdout, stderr } = await finish(child);
    expect(stdout.toString(), stderr).toBe(`${options}\n`);
    expect(loaded()).toEqual([child.pid]);
  });

  it.each(OPTIONS)("%s does not reach an exec-server below it either", async (options) => {
    const executor = `exec ${codexWords} executor --exec-server "exec ${codexWords} exec-server --listen stdio"`;
    const args = ["run", "--executor", executor, ...printed];
    const child = command.start(args, { NODE_OPTIONS: options });
    const { stdout, stderr } = await finish(child);
    expect(stdout.toString(), stderr).toBe(`${options}\n`);
    expect(loaded()).toEqual([child.pid]);
  });

  it("does not reach what codex doctor tries out", async () => {
    const child = command.start(["doctor"], { NODE_OPTIONS: OPTIONS[0] });
    await finish(child);
    expect(loaded()).toEqual([child.pid]);
  });

  it("stays as the command line of the executor says", async () => {
    const args = ["run", "--executor", `NODE_OPTIONS=--no-warnings ${codexWords} executor`, ...printed];
    const { stdout } = await finish(command.start(args, { NODE_OPTIONS: OPTIONS[0] }));
    expect(stdout.toString()).toBe("--no-warnings\n");
  });
});

describe("withoutNodeOptions", () => {
  it("is undone by takeNodeOptions", () => {
    const env = { NODE_OPTIONS: "--no-warnings", PATH: "/bin" };
    const child = { ...withoutNodeOptions(env) };
    expect(child).not.toHaveProperty("NODE_OPTIONS");
    takeNodeOptions(child);
    expect(child).toEqual(env);
  });

  it("changes nothing where there are none", () => {
    const env = { ...withoutNodeOptions({ PATH: "/bin" }) };
    takeNodeOptions(env);
    expect(env).toEqual({ PATH: "/bin" });
  });
});

describe("an --env-file among the words of a program", () => {
  const scripts = [codex, fileURLToPath(new URL("../../../scripts/codex", import.meta.url))];

  it.each(scripts)("is not read by the Node of %s, which would take its NODE_OPTIONS from it", (script) => {
    rmSync(loads, { force: true });
    const file = join(directory, "program.env");
    writeFileSync(file, `NODE_OPTIONS=--require=${JSON.stringify(required)}\n`);
    const words = ["--env-file", file, `--env-file=${join(directory, "none.env")}`];
    const { status, stdout, stderr } = spawnSync(script, ["run", "echo", ...words], { encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([0, `${words.join(" ")}\n`, ""]);
    expect(existsSync(loads)).toBe(false);
  });
});
