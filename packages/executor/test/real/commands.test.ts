import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytesOf, errorOf, execRequest } from "../support/client.js";
import { isAlive, STDIO, startSession, useRealHosts } from "../support/real-host.js";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "executor-"));
  writeFileSync(join(directory, "plain.txt"), "no program\n");
  chmodSync(join(directory, "plain.txt"), 0o644);
});
afterAll(() => rmSync(directory, { recursive: true }));

describe.each(STDIO)("a command on $name", ({ tty }) => {
  const open = useRealHosts();

  it("answers with its output and exit code as soon as it has ended", async () => {
    const client = open();
    const { text, output, result } = await client.exec({ command: ["sh", "-c", "echo one; exit 3"], tty });
    expect(output.replaceAll("\r", "")).toBe("one\n");
    const bytes = tty ? 5 : 4;
    expect(text).toMatch(
      /^Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 3\nOriginal token count: \d\nOutput:\none\r?\n$/,
    );
    expect(result).toMatchObject({
      exitCode: 3,
      outcome: { kind: "exited", code: 3 },
      closed: true,
      range: { from: 0, to: bytes },
      omitted: [],
      originalTokenCount: Math.ceil(bytes / 4),
    });
    expect(result).not.toHaveProperty("processId");
    expect(result).not.toHaveProperty("notices");
  });

  it("is not answered by a pause, and is answered by its end", async () => {
    const client = open();
    const command = ["sh", "-c", "echo one; sleep 0.2; echo two; sleep 0.2; echo three"];
    const { output, result } = await client.exec({ command, tty });
    expect(output.replaceAll("\r", "")).toBe("one\ntwo\nthree\n");
    expect(result.wallTimeSeconds).toBeGreaterThan(0.35);
  });

  it("that is killed says by what", async () => {
    const client = open();
    const { text, result } = await client.exec({ command: ["sh", "-c", "kill -9 $$"], tty });
    expect(text).toContain("\nProcess was killed by SIGKILL (exit code 137)\n");
    expect(result).toMatchObject({ exitCode: 137, outcome: { kind: "signaled", signal: "SIGKILL" } });
  });

  it("runs where and with just the environment that was asked for", async () => {
    const client = open({ env: { KEPT: "yes", API_KEY: "secret", PATH: "/usr/bin:/bin" } });
    const print = { command: ["/usr/bin/env"], cwd: directory, tty };
    const exact = await client.exec({ ...print, env: { ONE: "1" } });
    expect(exact.output.replaceAll("\r", "")).toBe("ONE=1\n");
    const envPolicy = { inherit: "all" as const, ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] };
    const based = await client.exec({ ...print, env: { ONE: "1", API_KEY: "mine" }, envPolicy });
    expect(based.output.trim().split(/\r?\n/).sort()).toEqual([
      "API_KEY=mine",
      "KEPT=yes",
      "ONE=1",
      "PATH=/usr/bin:/bin",
    ]);
    const pwd = await client.exec({ command: ["/bin/pwd"], cwd: directory, tty });
    expect(pwd.output.trim()).toBe(directory);
  });

  it("that leaves a process behind is answered at once; the process is found and ended", async () => {
    const client = open();
    const command = ["sh", "-c", "trap '' HUP; sleep 300 & echo $!; exit 2"];
    const { output, result, text } = await client.exec({ command, tty });
    const left = Number(output.trim());
    expect(result).toMatchObject({ exitCode: 2, closed: false });
    expect(result).not.toHaveProperty("processId");
    expect(isAlive(left)).toBe(true);
    const id = Number(/read_output with session_id (\d+)/.exec(text)?.[1]);
    const killed = await client.call("kill_session", { session_id: id });
    expect(killed).toMatchObject({
      status: "success",
      structured: { running: false, gone: true, outcome: { kind: "exited", code: 2 }, memberCount: 1 },
    });
    // Between its fork and its exec a process still has the name of the shell.
    expect(JSON.stringify(killed)).toMatch(new RegExp(`s(leep|h) \\(pid ${left}\\)`));
    expect(isAlive(left)).toBe(false);
  });

  it("is ended by its time limit, with its group", async () => {
    const client = open();
    const command = ["sh", "-c", "sleep 300 & echo $!; wait"];
    const { result, output } = await client.exec({ command, tty, timeoutMs: 100 });
    expect(result).toMatchObject({
      outcome: { kind: "signaled", by: "timeout" },
      notices: ["the time limit of 100 ms was reached, and the session was ended"],
    });
    expect(isAlive(Number(output.trim()))).toBe(false);
  });

  it("sends live output that is the result, byte for byte", async () => {
    const client = open();
    await client.initialize();
    const command = ["sh", "-c", "seq 1 20000; echo é€😀 >&2; seq 1 5"];
    const { output, result } = await client.exec({ command, tty, maxOutputTokens: 200_000 });
    const deltas = client.deltas();
    expect(bytesOf(deltas).toString()).toBe(output);
    expect(bytesOf(deltas).length).toBe(result.range.to);
    expect(new Set(deltas.map(({ stream }) => stream))).toEqual(new Set(tty ? ["pty"] : ["stdout", "stderr"]));
  });

  it("is held back by an orchestrator that reads its live output, so that nothing is evicted", async () => {
    const limits = { log: { headBytes: 64 * 1024, tailBytes: 256 * 1024, spillBytes: 0 } };
    const client = open({ limits });
    await client.initialize();
    const command = ["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' a"];
    const { result } = await client.exec({ command, tty, maxOutputTokens: 100 });
    expect(bytesOf(client.deltas()).equals(Buffer.alloc(3_000_000, "a"))).toBe(true);
    expect(result.range).toEqual({ from: 0, to: 3_000_000 });
    expect(result.omitted.some(({ reason }) => reason === "evicted")).toBe(true);
  });

  it("that writes more than its budget has the rest served by read_output, nothing lost", async () => {
    const client = open();
    const command = ["sh", "-c", "seq -w 1 300000"];
    const { output, result } = await client.exec({ command, tty, maxOutputTokens: 1_000 });
    const total = 300_000 * (tty ? 8 : 7);
    expect(result).toMatchObject({ range: { from: 0, to: total }, originalTokenCount: total / 4 });
    expect(Buffer.byteLength(output)).toBeLessThan(4_500);
    expect(output).toMatch(
      /^Warning: truncated output \(original token count: \d+\)\n\.\.\. \d+ bytes omitted \.\.\.\nBytes (\d+)-(\d+) were left out: read_output with session_id \d+ and from \1 reads them\n\n000001\r?\n/,
    );
    expect(output).toMatch(/…\d+ tokens truncated…\d{6}\r?\n/);
    expect(output.trimEnd().endsWith("300000")).toBe(true);
    const id = Number(/session_id (\d+)/.exec(output)?.[1]);
    let whole = "";
    for (let from = 0; from < total; ) {
      const part = await client.call("read_output", { session_id: id, from, max_output_tokens: 200_000 });
      if (part.status !== "success") throw new Error(part.message);
      const text = part.content[0]?.text ?? "";
      whole += text.slice(text.indexOf("\nOutput:\n") + 9);
      from = Number(JSON.parse(JSON.stringify(part.structured)).range.to);
    }
    const expected = Array.from({ length: 300_000 }, (_, index) => String(index + 1).padStart(6, "0")).join("\n");
    expect(whole.replaceAll("\r", "")).toBe(`${expected}\n`);
  });

  it.each([
    ["a missing directory", { cwd: "/no/such/place" }, "working directory `/no/such/place` does not exist; choose"],
    ["a file as directory", { cwd: "/etc/passwd" }, "working directory `/etc/passwd` is not a directory; choose"],
    ["a relative directory", { cwd: "here" }, "working directory `here` is not an absolute path; give"],
    ["a missing program", { command: ["no-such-program"] }, "`no-such-program` was not found on PATH; check its name"],
    [
      "a script without a shell",
      { command: ["cd src && make"] },
      "`cd src && make` was not found on PATH; a script needs a shell",
    ],
    ["a file that is no program", { command: ["./plain.txt"] }, "program `./plain.txt` is not executable; make it"],
  ])("is not run in or with %s, and says so", async (_name, part, problem) => {
    const client = open();
    const request = execRequest({ command: ["true"], cwd: directory, tty, ...part });
    const message = errorOf(await client.call("exec_command", request));
    expect(message).toMatch(/^the command was not run: /);
    expect(message).toContain(problem);
    expect(await client.call("list_sessions", {})).toMatchObject({ structured: { sessions: [] } });
  });

  it("that was not approved leaves no trace", async () => {
    const client = open();
    const touched = join(directory, `touched-${tty}`);
    for (const execApprovalRequirement of [
      { forbidden: { reason: "rule" } },
      { needsApproval: { reason: null, proposedExecPolicyAmendment: null } },
    ]) {
      const request = execRequest({ command: ["touch", touched], tty, execApprovalRequirement });
      expect(errorOf(await client.call("exec_command", request))).toMatch(/was not run/);
    }
    const listed = await client.exec({ command: ["ls", touched], tty });
    expect(listed.result.exitCode).not.toBe(0);
  });

  it("is one of many, all of which are answered", async () => {
    const client = open();
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    const answers = await Promise.all(
      numbers.map((number) => client.exec({ command: ["sh", "-c", `echo ${number}; exit ${number}`], tty })),
    );
    expect(answers.map(({ output, result }) => [Number(output.trim()), result.exitCode])).toEqual(
      numbers.map((number) => [number, number]),
    );
  });

  it("is gone with its executor", async () => {
    const client = open();
    const command = ["sh", "-c", "trap '' HUP TERM; sleep 300 & echo $$ $!; wait"];
    const { output } = await startSession(client, { command, tty }, "\n");
    const pids = output.trim().split(" ").map(Number);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await client.close();
    expect(pids.map(isAlive)).toEqual([false, false]);
  });
});
