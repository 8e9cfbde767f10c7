import { describe, expect, it } from "vitest";
import { errorOf, execRequest, writeRequest } from "../support/client.js";
import { useScriptedHosts } from "../support/scripted-host.js";
import { startSession } from "../support/sessions.js";

describe("the places for sessions", () => {
  const open = useScriptedHosts();

  it("are 64; then the least recently used session gives its place up, and that is reported", async () => {
    const host = open();
    await host.client.initialize();
    const sessions = [];
    for (let index = 0; index < 64; index++) sessions.push(await startSession(host));
    const poll = host.client.write({ processId: 1000, yieldTimeMs: 5 });
    await host.clock.untilWaiting();
    host.clock.advance(5);
    await poll; // 1001 is the least recently used one now
    sessions[1]?.process.print("unread");
    await startSession(host);
    expect(host.backend.processes.length).toBe(65);
    const pruned = host.backend.processes.filter(({ outcome }) => outcome.kind !== "running");
    expect(pruned).toEqual([sessions[1]?.process]);
    expect(pruned[0]?.events).toEqual(["terminate prune"]);
    expect(await host.client.ofType("session_exited")).toEqual({
      type: "session_exited",
      processId: 1001,
      outcome: { kind: "signaled", signal: "SIGTERM", by: "prune" },
    });
    const contact = await host.client.write({ processId: 1001 });
    expect(contact.output).toBe("unread");
    expect(contact.result.notices).toEqual(["the session was ended to make room for another: at most 64 are kept"]);
    const again = await host.client.call("write_stdin", writeRequest({ processId: 1001 }));
    expect(errorOf(again)).toMatch(/^unknown session 1001; it has ended/);
  });

  it("are given up by ended sessions first, but not by the newest", async () => {
    const host = open({ limits: { sessions: 4, newestSessions: 2 } });
    const sessions = [];
    for (let index = 0; index < 4; index++) sessions.push(await startSession(host));
    sessions[1]?.process.end(0);
    sessions[3]?.process.end(0);
    await startSession(host); // takes the place of 1001, which has ended
    expect(sessions[0]?.process.outcome.kind).toBe("running");
    await startSession(host); // 1003 is one of the newest: 1000 goes
    expect(sessions[0]?.process.events).toEqual(["terminate prune"]);
    expect(sessions[2]?.process.outcome.kind).toBe("running");
    expect((await host.client.write({ processId: 1003 })).result.exitCode).toBe(0);
  });

  it("are not taken from first calls: where all are, one more is a clear error", async () => {
    const host = open();
    const calls = Array.from({ length: 64 }, () => host.client.exec({ command: ["scripted"] }));
    await host.backend.started(63);
    const refused = await host.client.call("exec_command", execRequest({ command: ["scripted"] }));
    expect(errorOf(refused)).toBe(
      "no session can be started: at most 64 sessions are kept and none of them can be ended to make room; end one with kill_session or wait for one to end",
    );
    expect(host.backend.processes.length).toBe(64);
    for (const process of host.backend.processes) process.end(0);
    for (const { result } of await Promise.all(calls)) expect(result.exitCode).toBe(0);
    const next = host.client.exec({ command: ["scripted"] });
    (await host.backend.started(64)).end(0);
    expect((await next).result.exitCode).toBe(0);
  });

  it("are given back by a start that failed", async () => {
    const host = open({ limits: { sessions: 1 } });
    host.backend.failWith = new Error("nothing there");
    const call = () => host.client.call("exec_command", execRequest({ command: ["scripted"] }));
    for (let round = 0; round < 3; round++) expect(errorOf(await call())).toMatch(/nothing there/);
  });

  it("wait for the process that gives its place up to be gone", async () => {
    const host = open({ limits: { sessions: 2, newestSessions: 1 } });
    const { process } = await startSession(host);
    await startSession(host);
    let letGo!: () => void;
    const asked = new Promise<void>((resolve) => {
      process.onTerminate = () =>
        new Promise<void>((done) => {
          letGo = () => {
            process.end({ kind: "signaled", signal: "SIGKILL", by: "prune" });
            done();
          };
          resolve();
        });
    });
    const third = host.client.exec({ command: ["scripted"] });
    await asked;
    expect(host.backend.processes.length).toBe(2);
    process.onTerminate = undefined;
    letGo();
    (await host.backend.started(2)).end(0);
    await third;
  });

  it("that were given up report what was dropped, when the output of many was", async () => {
    const host = open({ limits: { sessions: 2, newestSessions: 1, retainedLogs: 1 } });
    const first = await startSession(host);
    first.process.print("never read");
    for (let index = 0; index < 3; index++) await startSession(host);
    expect(first.process.disposed).toBe(true);
    const contact = () => host.client.call("write_stdin", writeRequest({ processId: first.id }));
    expect(errorOf(await contact())).toBe(
      "session 1000 was ended to make room for another; at most 2 sessions are kept: Process was killed by SIGTERM (exit code 143); 10 bytes of its output were dropped unread",
    );
    expect(errorOf(await contact())).toMatch(/^unknown session 1000; it has ended/);
  });

  it("bound what is remembered of ended sessions", async () => {
    const host = open({ limits: { recentSessions: 2 } });
    for (let index = 0; index < 3; index++) {
      const { id, process } = await startSession(host);
      process.end(index);
      await host.client.write({ processId: id });
    }
    const ask = async (processId: number) =>
      errorOf(await host.client.call("write_stdin", writeRequest({ processId })));
    expect(await ask(1000)).toBe("unknown session 1000; list_sessions lists the sessions");
    expect(await ask(1001)).toMatch(/it has ended.*code 1$/);
  });

  it("are free again once a short command was answered", async () => {
    const host = open({ limits: { sessions: 1 } });
    for (let index = 0; index < 5; index++) {
      const answer = host.client.exec({ command: ["scripted"] });
      const process = await host.backend.started(index);
      process.print("out");
      process.end(0);
      expect((await answer).output).toBe("out");
      expect(process.disposed).toBe(true);
    }
  });
});

describe("a session that ended", () => {
  const open = useScriptedHosts();

  it("keeps output that an answer left out, for read_output", async () => {
    const host = open({ limits: { retainedLogs: 1 } });
    const run = async (text: string) => {
      const index = host.backend.processes.length;
      const answer = host.client.exec({ command: ["scripted"], maxOutputTokens: 2 });
      const process = await host.backend.started(index);
      process.print(text);
      process.end(0);
      return { process, answer: await answer };
    };
    const { process, answer } = await run("0123456789abcdef");
    expect(answer.text).toContain("Bytes 4-12 were left out: read_output with session_id 1000 and from 4 reads them\n");
    expect(process.disposed).toBe(false);
    const read = async (args: unknown) => {
      const outcome = await host.client.call("read_output", args);
      return outcome.status === "success" ? outcome.content[0]?.text : outcome.message;
    };
    expect(await read({ session_id: 1000, from: 4, max_output_tokens: 2 })).toBe(
      "Session 1000: bytes 4-12 of 16\nProcess exited with code 0\n4 bytes follow: read_output from 12 reads them\nOutput:\n456789ab",
    );
    expect(await read({ session_id: 1000, from: 99 })).toContain("bytes 16-16 of 16");
    await run("0123456789abcdef");
    expect(process.disposed).toBe(true);
    expect(await read({ session_id: 1000, from: 4 })).toMatch(/^unknown session 1000; it has ended/);
    expect(await read({ session_id: 1001 })).toContain("Output:\n0123456789abcdef");
  });
});
