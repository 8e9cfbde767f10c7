import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { codex, codexWords, finish, useCommand } from "../support.js";

describe("codex run", () => {
  const command = useCommand();

  it("ends with the exit code of the program and shows its output", async () => {
    const { code, stdout, stderr } = await command.run(["run", "--", "sh", "-c", "echo $0; echo err >&2; exit 3"]);
    expect([code, stdout.toString(), stderr]).toEqual([3, "sh\n", "err\n"]);
  });

  it("ends with 128 + n when signal n ended the program", async () => {
    expect((await command.run(["run", "--", "sh", "-c", "kill -9 $$"])).code).toBe(137);
  });

  it.each([
    [["no-such-program"], 127, "no-such-program"],
    [["/etc/passwd"], 126, "/etc/passwd"],
  ])("tells what could not be started: %j", async (argv, expected, named) => {
    const { code, stderr } = await command.run(["run", "--", ...argv]);
    expect(code).toBe(expected);
    expect(stderr).toContain(named);
  });

  it("passes bytes through in both directions, whatever they are", async () => {
    const input = randomBytes(5_000_000);
    const { code, stdout } = await command.run(["run", "--", "cat"], input);
    expect(code).toBe(0);
    expect(createHash("sha256").update(stdout).digest("hex")).toBe(createHash("sha256").update(input).digest("hex"));
  });

  it("holds input back that the program does not read", async () => {
    const input = randomBytes(40_000_000);
    const script = "sleep 1.5; sha256sum";
    const { code, stdout } = await command.run(["run", "--", "sh", "-c", script], input);
    expect(code).toBe(0);
    expect(stdout.toString()).toContain(createHash("sha256").update(input).digest("hex"));
  });

  it("gives a terminal when asked", async () => {
    const { code, stdout } = await command.run(["run", "--tty", "--", "sh", "-c", "tty; stty size"]);
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(/^\/dev\/(pts|tty).*\r\n24 80\r\n$/);
  });

  it("passes Ctrl-C on", async () => {
    const child = command.start([
      "run",
      "--",
      "sh",
      "-c",
      "trap 'echo caught; exit 5' INT; echo ready; sleep 100 & wait",
    ]);
    const finished = finish(child);
    await once(child.stdout, "data");
    child.kill("SIGINT");
    const { code, stdout } = await finished;
    expect([code, stdout.toString()]).toEqual([5, "ready\ncaught\n"]);
  });

  it("ends a program at its time limit", async () => {
    const { code, stderr } = await command.run(["run", "--timeout", "0.2", "--", "sleep", "100"]);
    expect(code).toBe(124);
    expect(stderr).toBe("codex: the program exceeded its time limit and was ended\n");
  });

  it("sets directory and variables", async () => {
    const { stdout } = await command.run(["run", "-C", "/usr", "-e", "A=b c", "--", "sh", "-c", "pwd; echo $A"]);
    expect(stdout.toString()).toBe("/usr\nb c\n");
  });

  it("works through any command that speaks the protocol", async () => {
    const executor = `${codexWords} executor`;
    const { code, stdout } = await command.run(["run", "--executor", executor, "--", "echo", "far"]);
    expect([code, stdout.toString()]).toEqual([0, "far\n"]);
  });

  it("sends nothing of an input that is /dev/null", async () => {
    const sent = join(mkdtempSync(join(tmpdir(), "codex-run-")), "sent");
    onTestFinished(() => rmSync(dirname(sent), { recursive: true }));
    const executor = `tee '${sent}' | ${codexWords} executor`;
    const args = [codex, "run", "--executor", executor, "--", "sh", "-c", "cat; sleep 0.3"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
    expect((await once(child, "close"))[0]).toBe(0);
    const messages = readFileSync(sent, "utf8");
    expect(messages).toContain('"stdin":"null"');
    expect(messages).not.toContain("closeStdin");
  });

  it.each([
    ["false", /exit|closed|offline|ended/, 125],
    ["ws://127.0.0.1:1", /ECONNREFUSED|refused/, 125],
    ["127.0.0.1:1", /ECONNREFUSED|refused/, 125],
    ["no-such-executor", /no-such-executor/, 125],
    ["/etc/passwd", /cannot be executed/, 125],
    ["cat", /./, 125],
    ["ssh://-oProxyCommand=x", /ssh:\/\//, 2],
    ["localhost", /port is missing/, 2],
    ["", /is empty/, 2],
  ])("says why executor %j cannot be reached", async (executor, reason, expected) => {
    const { code, stderr } = await command.run(["run", "--executor", executor, "--", "true"]);
    expect(code).toBe(expected);
    expect(stderr).toMatch(reason);
  });

  it("never invents an outcome when the executor is killed", async () => {
    const { child, url } = await command.listen(["--resume-grace", "0.5"]);
    const run = command.start(["run", "--executor", url, "--", "sh", "-c", "echo ready; sleep 100"]);
    const finished = finish(run);
    await once(run.stdout, "data");
    child.kill("SIGKILL");
    const { code, stderr } = await finished;
    expect(code).toBe(125);
    expect(stderr).toContain("the outcome is unknown");
  });

  it("loses nothing of a large output", async () => {
    const { stdout } = await command.run(["run", "--", "sh", "-c", "seq 1000000"]);
    expect(stdout.length).toBe(6_888_896);
    expect(stdout.subarray(-8).toString()).toBe("1000000\n");
  });
});
