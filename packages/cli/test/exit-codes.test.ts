import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { Terminal } from "./pty.js";
import { codex, finish, useCommand } from "./support.js";

const directory = mkdtempSync(join(tmpdir(), "codex-exit-"));
afterAll(() => rmSync(directory, { recursive: true }));

describe("codex run ends", () => {
  const command = useCommand();
  const sh = (script: string) => ["run", "--", "sh", "-c", script];

  it.each([
    ["the code of the program", sh("exit 0"), 0],
    ["the code of the program", sh("exit 3"), 3],
    ["128 + n for signal n", sh("kill -TERM $$"), 143],
    ["128 + n for signal n", sh("kill -KILL $$"), 137],
    ["128 + n for signal n", sh("kill -HUP $$"), 129],
    ["2 on bad arguments", ["run", "--timeout", "never", "--", "true"], 2],
    ["2 on bad arguments", ["run", "--executor", "ssh://-oX=y", "--", "true"], 2],
    ["124 when the time is over", ["run", "--timeout", "0.2", "--", "sleep", "100"], 124],
    [
      "124 when the time is over, whatever the program says then",
      ["run", "--timeout", "1", "--", "sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"],
      124,
    ],
    ["125 without an executor", ["run", "--executor", "ws://127.0.0.1:1", "--", "true"], 125],
    ["125 without an executor", ["run", "--executor", "exit 7", "--", "true"], 125],
    ["126 for what cannot be started", ["run", "--", "/etc/passwd"], 126],
    ["126 for what cannot be started", ["run", "-C", "/nowhere", "--", "true"], 126],
    ["127 for what is not there", ["run", "--", "no-such-program"], 127],
  ])("with %s: %j", async (_name, args, expected) => {
    const { code, signal } = await command.run(args);
    expect([code, signal]).toEqual([expected, null]);
  });

  it.runIf(process.platform === "linux")("tells of a variable that is not UTF-8, and of no other one", () => {
    const script = `export X="$(printf 'a\\377')" Y="$(printf '\\357\\277\\275')"; exec "$0" "$1" run -- true`;
    const { status, stderr } = spawnSync("bash", ["-c", script, process.execPath, codex], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, 'codex: variable "X" is not UTF-8: programs get it with U+FFFD in it\n']);
  });

  it
    .runIf(process.platform === "linux")
    .each([
      [
        "an argument that is not UTF-8",
        'exec "$0" "$1" run -- printf %s "$(printf "a\\377")"',
        "argument `a\ufffd` is not UTF-8",
      ],
      ...["run", "run -C below", "sandbox"].map((command) => [
        `a directory that was removed: ${command}`,
        `mkdir "$2/gone"; cd "$2/gone"; rmdir "$2/gone"; exec "$0" "$1" ${command} -- true`,
        "directory was removed",
      ]),
    ])("with 126 for %s", (_what, script, problem) => {
    const { status, stderr, stdout } = spawnSync("sh", ["-c", script, process.execPath, codex, directory], {
      encoding: "utf8",
    });
    expect([status, stdout, stderr]).toEqual([126, "", expect.stringContaining(`not run: `)]);
    expect(stderr).toContain(problem);
  });

  it("an exec-server with 0 in a directory that was removed", () => {
    const script =
      'mkdir "$2/gone"; cd "$2/gone"; rmdir "$2/gone"; exec "$0" "$1" exec-server --listen stdio:// < /dev/null';
    const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, codex, directory], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
  });

  it("with the code of a program that gets U+FFFD itself", async () => {
    const { code, stdout } = await command.run(["run", "--", "printf", "%s", "\ufffd"]);
    expect([code, stdout.toString()]).toEqual([0, "\ufffd"]);
  });

  it("with 125 when the executor refuses", async () => {
    const token = join(directory, "token");
    writeFileSync(token, "secret\n");
    const { url } = await command.listen(["--token-file", token]);
    const { code, stderr } = await command.run(["run", "--executor", url, "--", "true"]);
    expect([code, stderr]).toEqual([125, expect.stringMatching(/401.*bearer token/)]);
  });

  it("by SIGINT when that ended the program, and a loop of a shell stops", async () => {
    const { code, signal } = await command.run(sh("kill -INT $$"));
    expect([code, signal]).toEqual([null, "SIGINT"]);
  });

  it.each([
    ["while it starts, or runs", "sleep 1000", "round 1"],
    ["while the program runs", "sh -c 'echo run\"\"ning; exec sleep 1000'", "running"],
  ])("by SIGINT after Ctrl-C, and a loop of a shell stops: %s", async (_when, program, text) => {
    const loop = `for i in 1 2 3; do echo "round" $i; "$NODE" "$CODEX" run -- ${program}; done; echo "loop" over`;
    const terminal = new Terminal("bash", ["--norc", "--noprofile", "-c", loop], {
      env: { NODE: process.execPath, CODEX: codex },
    });
    await terminal.shown(text);
    terminal.type("\u0003");
    const { signal } = await terminal.ended;
    expect(signal).toBe(2);
    expect(terminal.output).not.toMatch(/round 2|loop over/);
  });

  it("with 125 when nothing can be written", async () => {
    const readOnly = openSync("/dev/null", "r");
    const run = (script: string) =>
      spawnSync(process.execPath, [codex, "run", "--", "sh", "-c", script], { stdio: ["ignore", readOnly, "pipe"] });
    expect(run("echo lost").status).toBe(125);
    expect(run("echo lost; exit 3").status).toBe(3);
    expect(run("true").status).toBe(0);
  });

  it("with 125 when its output is closed, as npm installs it", () => {
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    const run = (script: string) =>
      spawnSync("sh", ["-c", script, codex], { encoding: "utf8", env: { ...process.env, PATH } });
    expect(run('"$0" run -- seq 3 >&-')).toMatchObject({ status: 125, stdout: "" });
    expect(run('"$0" run -- seq 3 >/dev/null')).toMatchObject({ status: 0, stderr: "" });
    expect(run('"$0" run -- echo "a  b" "*"')).toMatchObject({ status: 0, stdout: "a  b *\n", stderr: "" });
  });
});

it("scripts/codex does not let Node write into nothing when its output is closed", async () => {
  const scripts = join(directory, "with space", "scripts");
  const [dist, view] = ["cli", "view"].map((name) => join(directory, "with space", "packages", name, "dist"));
  for (const path of [scripts, dist, view]) mkdirSync(path!, { recursive: true });
  writeFileSync(join(view!, "index.js"), "");
  const script = join(scripts, "codex");
  copyFileSync(fileURLToPath(new URL("../../../scripts/codex", import.meta.url)), script);
  writeFileSync(
    join(dist!, "codex.js"),
    `try { require("node:fs").writeSync(1, "written\\n"); } catch (error) { process.exit(error.code === "EBADF" ? 9 : 1); }`,
  );
  expect(execFileSync("sh", [script], { encoding: "utf8" })).toBe("written\n");
  const closed = spawn("sh", ["-c", '"$0" "$1" >&-', "sh", script]);
  expect((await finish(closed)).code).toBe(9);
});
