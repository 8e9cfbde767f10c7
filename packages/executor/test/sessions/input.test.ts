import { describe, expect, it } from "vitest";
import { errorOf, writeRequest } from "../support/client.js";
import { useScriptedHosts } from "../support/scripted-host.js";
import { startSession } from "../support/sessions.js";

const POLL = { yieldTimeMs: 10 };

describe("input", () => {
  const open = useScriptedHosts();

  it("goes to a terminal as it is, and to an open pipe", async () => {
    for (const request of [{ tty: true }, { stdin: "open" as const }]) {
      const host = open();
      const { id, process } = await startSession(host, request);
      const answer = host.client.write({ processId: id, input: "é\u0004x", ...POLL });
      await host.clock.untilWaiting();
      expect(process.events).toEqual(["write é\u0004x"]);
      host.clock.advance(10);
      expect((await answer).result.processId).toBe(id);
    }
  });

  it.each([
    [{ tty: true }, `${"x".repeat(4095)}\n${"x".repeat(4095)}`, undefined],
    [{ tty: true }, `a\r${"ä".repeat(2048)}\r`, 4096],
    [{ stdin: "open" as const }, "x".repeat(10_000), undefined],
  ])("tells that a program which reads lines does not get all of a long one (%j)", async (request, input, longest) => {
    const host = open();
    const { id } = await startSession(host, request);
    const answer = host.client.write({ processId: id, input, ...POLL });
    await host.clock.untilWaiting();
    host.clock.advance(10);
    const { notices } = (await answer).result;
    if (longest === undefined) expect(notices).toBeUndefined();
    else expect(notices?.[0]).toMatch(new RegExp(`^a line of ${longest} bytes .*gets 4095 bytes`));
  });

  it("counts a line over the calls that write it, until one ends or discards it", async () => {
    const host = open();
    const { id } = await startSession(host, { tty: true });
    const noticesOf = async (input: string) => {
      const answer = host.client.write({ processId: id, input, ...POLL });
      await host.clock.untilWaiting();
      host.clock.advance(10);
      return (await answer).result.notices?.[0];
    };
    const half = "x".repeat(3000);
    expect(await noticesOf(half)).toBeUndefined();
    expect(await noticesOf(`${half}\n`)).toMatch(/^a line of 6000 bytes /);
    for (const input of [half, `\u0015${half}`, `\n${half}`]) expect(await noticesOf(input)).toBeUndefined();
  });

  it("may be bytes that are no text", async () => {
    const host = open();
    const { id, process } = await startSession(host, { stdin: "open" });
    const input = Buffer.from([3]).toString("base64");
    const answer = host.client.write({ processId: id, input, inputEncoding: "base64", ...POLL });
    await host.clock.untilWaiting();
    expect(process.events).toEqual(["signal SIGINT"]);
    host.clock.advance(10);
    await answer;
    const bad = writeRequest({ processId: id, input: "no base64", inputEncoding: "base64" });
    expect(errorOf(await host.client.call("write_stdin", bad))).toBe("field `input`: expected base64");
  });

  it("types Ctrl-C on a terminal, and signals the group on pipes", async () => {
    for (const [request, event] of [
      [{ tty: true }, "write \u0003"],
      [{ stdin: "null" as const }, "signal SIGINT"],
      [{ stdin: "open" as const }, "signal SIGINT"],
    ] as const) {
      const host = open();
      const { id, process } = await startSession(host, request);
      const answer = host.client.write({ processId: id, input: "\u0003", ...POLL });
      await host.clock.untilWaiting();
      expect(process.events).toEqual([event]);
      host.clock.advance(10);
      await answer;
    }
  });

  it("to a closed stdin is refused, and says what would open it", async () => {
    const host = open();
    const { id, process } = await startSession(host);
    const answer = await host.client.call("write_stdin", writeRequest({ processId: id, input: "\u0003\u0003" }));
    expect(errorOf(answer)).toBe('stdin is closed for this session; start it with tty=true, or with stdin="open"');
    expect(process.events).toEqual([]);
  });

  it("comes in the order size, input, end of input, signal", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    const request = { resize: { rows: 30, cols: 100 }, closeStdin: true, signal: "terminate" as const };
    const answer = host.client.write({ processId: id, input: "x", ...request, ...POLL });
    await host.clock.untilWaiting();
    expect(process.events).toEqual(["resize 30x100", "write x", "close stdin", "signal SIGTERM"]);
    host.clock.advance(10);
    await answer;
  });

  it("whose end a host cannot send is reported: as an error where nothing else was requested, as a notice otherwise", async () => {
    const host = open();
    const { id, process } = await startSession(host, { stdin: "open" });
    process.keepsStdin = true;
    const alone = await host.client.call("write_stdin", writeRequest({ processId: id, input: "", closeStdin: true }));
    expect(alone).toMatchObject({ status: "error", code: "unsupported" });
    expect(errorOf(alone)).toContain("this host cannot close stdin");
    const { text } = await host.client.write({ processId: id, input: "x", closeStdin: true });
    expect(text).toContain("this host cannot close stdin; the program may wait for it");
    expect(process.events).toEqual(["write x"]);
  });

  it.each([
    ["interrupt", "SIGINT"],
    ["terminate", "SIGTERM"],
    ["kill", "SIGKILL"],
    ["hangup", "SIGHUP"],
  ] as const)("sends the signal %s", async (signal, name) => {
    const host = open();
    const { id, process } = await startSession(host);
    const answer = host.client.write({ processId: id, signal, ...POLL });
    await host.clock.untilWaiting();
    expect(process.events).toEqual([`signal ${name}`]);
    host.clock.advance(10);
    await answer;
  });

  it("is not resized without a terminal, and nothing else is done then", async () => {
    const host = open();
    const { id, process } = await startSession(host, { stdin: "open" });
    const request = writeRequest({ processId: id, input: "x", resize: { rows: 1, cols: 1 } });
    expect(errorOf(await host.client.call("write_stdin", request))).toMatch(/session 1000 was not resized: .*terminal/);
    expect(process.events).toEqual([]);
  });

  it("that the program does not read does not hold the answer back, and is said to be under way", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    process.holdWrites = true;
    const answer = host.client.write({ processId: id, input: "slow", ...POLL });
    await host.clock.untilWaiting();
    host.clock.advance(10);
    expect((await answer).result.notices?.[0]).toMatch(/has not read all of the 4 bytes of input yet/);
    process.takeWrites();
    expect(process.events).toEqual(["write slow"]);
  });

  it("ends the wait when it was taken, where that was asked for", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    process.holdWrites = true;
    const answer = host.client.write({ processId: id, input: "slow", until: "written" });
    await host.clock.untilWaiting();
    process.takeWrites();
    expect((await answer).result).toMatchObject({ processId: id, wallTimeSeconds: 0 });
    expect(process.events).toEqual(["write slow"]);
    const nothing = await host.client.write({ processId: id, until: "written" });
    expect(nothing.result).toMatchObject({ processId: id, wallTimeSeconds: 0 });
    const unread = host.client.write({ processId: id, input: "x", until: "written", ...POLL });
    await host.clock.untilWaiting();
    host.clock.advance(10);
    expect((await unread).result.notices?.[0]).toMatch(/has not read all of the 1 bytes of input yet/);
  });

  it("is bounded while the program does not read", async () => {
    const host = open({ limits: { waitingInputBytes: 10 } });
    const { id, process } = await startSession(host, { tty: true });
    process.holdWrites = true;
    const first = host.client.write({ processId: id, input: "123456", ...POLL });
    await host.clock.untilWaiting();
    host.clock.advance(10);
    await first;
    const second = await host.client.call("write_stdin", writeRequest({ processId: id, input: "éééé" }));
    expect(errorOf(second)).toBe(
      "input of 8 bytes was refused: the program has not read 6 bytes yet, and the limit is 10 bytes",
    );
    process.takeWrites();
    const third = host.client.write({ processId: id, input: "78901234", ...POLL });
    await host.clock.untilWaiting();
    process.takeWrites();
    host.clock.advance(10);
    await third;
    expect(process.events).toEqual(["write 123456", "write 78901234"]);
  });

  it("that was taken in part ends the wait, and the answer says how much was", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    process.holdWrites = true;
    const answer = host.client.write({ processId: id, input: "12345678" });
    await host.clock.untilWaiting();
    process.print("output");
    process.breakWrites(3);
    const { result, output } = await answer;
    expect(output).toBe("output");
    expect(result.notices).toEqual(["3 of 8 bytes of input were taken: the program went deaf"]);
  });

  it("of which nothing was taken is an error, and its output is left for the next call", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    process.holdWrites = true;
    const answer = host.client.call("write_stdin", writeRequest({ processId: id, input: "12345678" }));
    await host.clock.untilWaiting();
    process.print("output");
    process.breakWrites(0);
    expect(errorOf(await answer)).toBe(
      "stdin is closed for this session: the program went deaf; 0 of 8 bytes of input were taken",
    );
    process.end(0);
    expect((await host.client.write({ processId: id })).output).toBe("output");
  });

  it("whose answer was lost may have been taken, and so may a signal", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    process.holdWrites = true;
    process.losesSignals = true;
    const answer = host.client.write({ processId: id, input: "12345678", signal: "interrupt" });
    await host.clock.untilWaiting();
    process.breakWrites(3, "unknown");
    expect((await answer).result.notices).toEqual([
      "whether SIGINT was sent is not known",
      "3 of 8 bytes of input are known to have been taken, the others may have been: the program went deaf",
    ]);
  });

  it("for a process that has ended is answered with its end", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    process.print("rest");
    process.end(7);
    const { result, output } = await host.client.write({ processId: id, input: "late" });
    expect(output).toBe("rest");
    expect(result).toMatchObject({
      exitCode: 7,
      notices: ["the process had ended: 0 of 4 bytes of input were written"],
    });
    expect(process.events).toEqual([]);
  });

  it("with a writeId is written once; a repeat gets the first answer, also after the end", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    const request = { processId: id, input: "once", writeId: "w1", ...POLL };
    const first = host.client.write(request);
    await host.clock.untilWaiting();
    const meanwhile = host.client.write(request);
    host.clock.advance(10);
    const later = await host.client.write(request);
    expect(await first).toEqual(later);
    expect(await meanwhile).toEqual(later);
    process.end(0);
    await host.client.write({ processId: id });
    expect(await host.client.write(request)).toEqual(later);
    expect(process.events).toEqual(["write once"]);
  });

  it("from several calls on one session takes turns, in order, while other sessions go on", async () => {
    const host = open();
    const one = await startSession(host, { tty: true });
    const two = await startSession(host, { tty: true });
    const first = host.client.write({ processId: one.id, input: "a", yieldTimeMs: 10 });
    const second = host.client.write({ processId: one.id, input: "b", yieldTimeMs: 10 });
    const third = host.client.write({ processId: one.id, input: "c", yieldTimeMs: 10 });
    const other = host.client.write({ processId: two.id, input: "d", yieldTimeMs: 10 });
    await host.clock.untilWaiting(2);
    expect([one.process.events, two.process.events]).toEqual([["write a"], ["write d"]]);
    one.process.print("A");
    host.clock.advance(10);
    expect([(await first).output, (await other).output]).toEqual(["A", ""]);
    await host.clock.untilWaiting();
    expect(one.process.events).toEqual(["write a", "write b"]);
    one.process.print("B");
    host.clock.advance(10);
    expect((await second).output).toBe("B");
    await host.clock.untilWaiting();
    one.process.end(0);
    expect((await third).result).toMatchObject({ exitCode: 0, wallTimeSeconds: 0.02 });
  });

  it("of a call that was cancelled before its turn is not written", async () => {
    const host = open();
    const { id, process } = await startSession(host, { tty: true });
    const first = host.client.write({ processId: id, input: "a", yieldTimeMs: 10 });
    await host.clock.untilWaiting();
    const second = host.client.write({ processId: id, input: "b", yieldTimeMs: 10 }, "queued");
    await host.client.send({ type: "cancel_tool", requestId: "queued" });
    expect((await second).result).toMatchObject({
      processId: id,
      notices: ["the call was cancelled before its turn; nothing was written"],
    });
    host.clock.advance(10);
    await first;
    expect(process.events).toEqual(["write a"]);
  });

  it("for no session, or one whose end was reported, is an error", async () => {
    const host = open();
    const unknown = await host.client.call("write_stdin", writeRequest({ processId: 4711 }));
    expect(errorOf(unknown)).toBe("unknown session 4711; list_sessions lists the sessions");
    const { id, process } = await startSession(host);
    process.end(0);
    await host.client.write({ processId: id });
    const ended = await host.client.call("write_stdin", writeRequest({ processId: id }));
    expect(errorOf(ended)).toBe(
      "unknown session 1000; it has ended, and its end was reported: Process exited with code 0",
    );
  });

  it("queued behind a call that reported the end gets it as well: it was made before", async () => {
    const host = open();
    const { id, process } = await startSession(host);
    const first = host.client.write({ processId: id });
    const second = host.client.write({ processId: id });
    await host.client.untilTaken();
    process.print("last");
    process.end(0);
    expect(await first).toMatchObject({ output: "last", result: { exitCode: 0 } });
    expect(await second).toMatchObject({ output: "", result: { exitCode: 0, range: { from: 4, to: 4 } } });
    const third = await host.client.call("write_stdin", writeRequest({ processId: id }));
    expect(errorOf(third)).toMatch(/unknown session 1000; it has ended/);
  });
});

describe("a command with a key", () => {
  const open = useScriptedHosts();

  it("is started once, and runs once it was approved", async () => {
    const host = open();
    const request = { command: ["scripted"], idempotencyKey: "k" };
    const needsApproval = { reason: "why", proposedExecPolicyAmendment: null };
    const refused = host.client.exec({ ...request, execApprovalRequirement: { needsApproval } });
    await expect(refused).rejects.toThrow(/needs approval and was not run: why/);
    const first = host.client.exec(request);
    const process = await host.backend.started(0);
    process.end(5);
    expect((await first).result.exitCode).toBe(5);
    expect(await host.client.exec(request)).toEqual(await first);
    expect(host.backend.processes.length).toBe(1);
  });

  it("that could not be started is not tried again under its key", async () => {
    const host = open();
    host.backend.failWith = new Error("no more processes");
    const request = { command: ["scripted"], idempotencyKey: "k" };
    await expect(host.client.exec(request)).rejects.toThrow("the command was not run: no more processes");
    host.backend.failWith = undefined;
    await expect(host.client.exec(request)).rejects.toThrow("the command was not run: no more processes");
    expect(host.backend.processes.length).toBe(0);
  });
});
