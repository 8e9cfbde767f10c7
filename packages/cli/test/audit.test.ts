import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finish, useCommand } from "./support.js";

let home: string;
let log: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "codex-home-"));
  log = join(home, "audit.jsonl");
  await writeFile(join(home, "config.toml"), 'audit.enabled = true\nsandbox_mode = "danger-full-access"\n');
});
afterEach(() => rm(home, { recursive: true, force: true }));

const command = useCommand();

async function run(...args: string[]) {
  const child = command.start(args, { CODEX_HOME: home, MY_SECRET: "hunter2hunter2" });
  child.stdin.end();
  const { code, stdout, stderr } = await finish(child);
  return { code, stdout: stdout.toString(), stderr };
}

const call = (cmd: string, ...flags: string[]) =>
  run("tools", "call", "exec_command", JSON.stringify({ cmd }), ...flags);

describe("codex audit", () => {
  it("has every call on record, refused ones too, and no secret", async () => {
    const ignore = ["-c", "shell_environment_policy.ignore_default_excludes=true"];
    expect((await call("echo $MY_SECRET; exit 3", ...ignore)).stdout).toContain("hunter2hunter2");
    await call("rm -rf /nonexistent", "-a", "never");
    expect((await stat(log)).mode & 0o777).toBe(0o600);
    expect(await readFile(log, "utf8")).not.toContain("hunter2");
    const { code, stdout } = await run("audit", "show");
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringMatching(
        /^1 +\d{4}-\S+Z call +call=\S+ tool=exec_command runs=true environment=executor argvSha256=/,
      ),
      expect.stringMatching(
        /^2 .* result .*status=success outcome=\{"kind":"exited","code":3\} exitCode=3 .*range=\[0,15\]/,
      ),
      expect.stringMatching(
        /^3 .* runs=false .*requirement=forbidden .*cause=dangerous: \S+ status=forbidden code=forbidden$/,
      ),
    ]);
    expect((await run("audit", "verify")).stdout).toMatch(/^intact: 3 records, the last is 3:[0-9a-f]{64}\n$/);
    expect((await run("audit", "show", "--json")).stdout).toBe(await readFile(log, "utf8"));
  });

  it("finds the first record that does not fit, and what is missing at the end", async () => {
    await call("true");
    await call("true");
    const head = /last is (\S+)/.exec((await run("audit", "verify", log)).stdout)?.[1] ?? "";
    const lines = (await readFile(log, "utf8")).trimEnd().split("\n");
    const write = (changed: string[]) => writeFile(log, `${changed.join("\n")}\n`);
    await write(lines.with(1, (lines[1] ?? "").replace('"status":"success"', '"status":"denied"')));
    expect(await run("audit", "verify")).toEqual({
      code: 1,
      stdout: `broken: ${log}:3: record 3 does not carry the hash of record 2: one of the two was changed\n`,
      stderr: "",
    });
    await write(lines.slice(0, 2));
    expect(await run("audit", "verify")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("record 4 is known"),
    });
    await rm(`${log}.head`);
    expect(await run("audit", "verify")).toMatchObject({ code: 0 });
    expect(await run("audit", "verify", "--expect", head)).toMatchObject({ code: 1 });
    expect(JSON.parse((await run("audit", "verify", "--expect", head, "--json")).stdout)).toMatchObject({
      kind: "broken",
      line: 3,
      file: log,
    });
  });

  it("runs nothing that cannot be recorded where that is required, and goes on otherwise", async () => {
    const lost = ["-c", `audit.path=${join(home, "config.toml", "x")}`];
    const marker = join(home, "ran");
    const refused = await call(`touch ${marker}`, ...lost, "-c", "audit.required=true");
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining("calls must be recorded") });
    await expect(stat(marker)).rejects.toThrow("ENOENT");
    const { code, stderr } = await call(`touch ${marker}`, ...lost);
    expect({ code, lines: stderr.split("codex: the audit log cannot be written").length }).toEqual({
      code: 0,
      lines: 2,
    });
    await stat(marker);
  });

  it.each([
    [["audit", "verify", "/nonexistent/log"], 1, "audit log /nonexistent/log: ENOENT"],
    [["audit", "show"], 1, "audit.jsonl: ENOENT"],
    [["audit", "verify", "/", "--json"], 1, "audit log /: it is a directory"],
  ])("%j ends with %i", async (args, code, message) => {
    expect(await run(...args)).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
  });
});
