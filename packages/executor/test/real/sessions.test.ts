import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { errorOf, writeRequest } from "../support/client.js";
import { idOf, isAlive, readUntil, STDIO, startSession, useRealHosts } from "../support/real-host.js";

const hasPython = (() => {
  try {
    execFileSync("python3", ["-c", "pass"]);
    return true;
  } catch {
    return false;
  }
})();

describe.each(STDIO)("a session on $name", ({ tty }) => {
  const open = useRealHosts();
  const stdin = { tty, stdin: "open" as const };

  it("is a shell that remembers", async () => {
    const client = open();
    const shell = tty ? ["bash", "--norc", "--noprofile", "-i"] : ["bash", "--norc", "--noprofile"];
    const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: process.env.HOME ?? "/", PS1: "$ ", TERM: "dumb" };
    const id = idOf(await client.exec({ command: shell, env, yieldTimeMs: 0, ...stdin }));
    await client.write({ processId: id, input: "export GREETING=hello\n", yieldTimeMs: 0 });
    const output = await readUntil(client, id, "hello-world", { input: 'echo "$GREETING-world"\n' });
    expect(output).toContain("hello-world");
    const end = await client.write({ processId: id, input: "exit 4\n" });
    expect(end.result).toMatchObject({ exitCode: 4, closed: true });
    expect(errorOf(await client.call("write_stdin", writeRequest({ processId: id })))).toMatch(/unknown session/);
  });

  it.skipIf(!hasPython)("is a Python prompt (needs python3)", async () => {
    const client = open();
    const id = idOf(await client.exec({ command: ["python3", "-i", "-q", "-u"], yieldTimeMs: 0, ...stdin }));
    await readUntil(client, id, "42", { input: "print(6 * 7)\n" });
    await readUntil(client, id, "ZeroDivisionError", { input: "1 / 0\n" });
    const end = await client.write({ processId: id, input: "exit(3)\n" });
    expect(end.result.exitCode).toBe(3);
  });

  it("is interrupted by Ctrl-C", async () => {
    const client = open();
    const { id } = await startSession(client, { command: ["sh", "-c", "echo ready; exec sleep 300"], tty }, "ready");
    const { result } = await client.write({ processId: id, input: "\u0003" });
    expect(result).toMatchObject({ exitCode: 130, outcome: { kind: "signaled", signal: "SIGINT" }, closed: true });
  });

  it("takes a large input whole and in order", async () => {
    const client = open();
    const size = 300_000;
    const script = `${tty ? "stty raw -echo; " : ""}echo ready; head -c ${size} | cksum`;
    const { id } = await startSession(client, { command: ["sh", "-c", script], ...stdin }, "ready");
    const input = Array.from({ length: size / 10 }, (_, index) => String(index).padStart(10, "0")).join("");
    const { output, result } = await client.write({ processId: id, input });
    const expected = execFileSync("cksum", { input, encoding: "utf8" });
    expect(result.exitCode).toBe(0);
    expect(output.trim()).toBe(expected.trim());
  });

  it("ends when its input ends", async () => {
    const client = open();
    const id = idOf(await client.exec({ command: ["cat"], yieldTimeMs: 0, ...stdin }));
    const { output, result } = await client.write({ processId: id, input: "last line\n", closeStdin: true });
    expect(output).toContain("last line");
    expect(result).toMatchObject({ exitCode: 0, closed: true });
  });

  it("is ended by kill_session with its group, and says what was there", async () => {
    const client = open();
    await client.initialize();
    const command = ["sh", "-c", "sleep 300 & echo $$ $!; wait"];
    const { id, output } = await startSession(client, { command, tty }, "\n");
    const pids = output.trim().split(" ");
    const waiting = client.write({ processId: id });
    const killed = await client.call("kill_session", { session_id: id });
    expect(killed).toMatchObject({
      status: "success",
      structured: {
        sessionId: id,
        running: true,
        memberCount: 2,
        gone: true,
        outcome: { kind: "signaled", by: "terminate" },
      },
    });
    const text = killed.status === "success" ? killed.content[0]?.text : "";
    expect(text).toMatch(new RegExp(`^Session ${id}: was running\nProcess was killed by SIG(TERM|HUP) \\(exit code`));
    // A process that was just forked has the name of its parent.
    for (const pid of pids) expect(text).toMatch(new RegExp(`(sh|sleep) \\(pid ${pid}\\)`));
    expect(text).toMatch(/\nSignals sent: .*SIGTERM\nAll of them are gone\.$/);
    expect((await waiting).result.outcome).toMatchObject({ kind: "signaled", by: "terminate" });
    expect(await client.ofType("session_exited")).toMatchObject({ processId: id, outcome: { kind: "signaled" } });
    for (const pid of pids) expect(isAlive(Number(pid))).toBe(false);
  });

  it.skipIf(process.platform !== "linux")("is ended with what has left its group", async () => {
    const client = open();
    const command = ["sh", "-c", "setsid sh -c 'echo $$; exec sleep 300' & sleep 300"];
    const { id, output } = await startSession(client, { command, tty }, "\n");
    const killed = await client.call("kill_session", { session_id: id });
    const pid = Number(output.trim());
    expect(killed).toMatchObject({ structured: { strays: [{ pid }], strayCount: 1, gone: true } });
    const text = killed.status === "success" ? killed.content[0]?.text : "";
    expect(text).toMatch(new RegExp(`\nProcesses that had left its group: (sh|sleep) \\(pid ${pid}\\)\n`));
    expect(isAlive(pid)).toBe(false);
  });

  it("is listed with what it runs and what was not read", async () => {
    const client = open();
    const { id } = await startSession(client, { command: ["sh", "-c", "echo ready; sleep 300"], tty }, "ready");
    const listed = await client.call("list_sessions", {});
    expect(listed).toMatchObject({
      structured: {
        sessions: [
          {
            sessionId: id,
            command: "sh -c 'echo ready; sleep 300'",
            cwd: "/tmp",
            tty,
            unreadBytes: 0,
            state: "running",
          },
        ],
      },
    });
    const text = listed.status === "success" ? listed.content[0]?.text : "";
    expect(text).toMatch(
      new RegExp(
        `^session ${id}: running, \\d+\\.\\d seconds, 0 bytes unread, in /tmp: sh -c 'echo ready; sleep 300'$`,
      ),
    );
  });

  it("is resized where it has a terminal", async () => {
    const client = open();
    const script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done";
    const size = { rows: 30, cols: 100 };
    const { id } = await startSession(client, { command: ["bash", "-c", script], tty }, "ready");
    const request = writeRequest({ processId: id, resize: size });
    if (!tty) return expect(errorOf(await client.call("write_stdin", request))).toMatch(/was not resized/);
    expect((await client.write(request)).output).toContain("30 100");
  });
});
