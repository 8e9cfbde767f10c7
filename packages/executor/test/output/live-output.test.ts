import { describe, expect, it } from "vitest";
import { bytesOf, type Client, type Delta, errorOf, writeRequest } from "../support/client.js";
import { settle } from "../support/manual-clock.js";
import { type ScriptedHost, useScriptedHosts } from "../support/scripted-host.js";
import { startSession } from "../support/sessions.js";

const offsets = (deltas: readonly Delta[]) =>
  deltas.map(({ offset, chunk }) => [offset, offset + Buffer.from(chunk, "base64").length]);

/** Every byte once, in order, and numbered. */
function expectWhole(client: Client, total: number): void {
  const deltas = client.deltas();
  let end = 0;
  for (const [from, to] of offsets(deltas)) {
    expect(from).toBe(end);
    end = to!;
  }
  expect(end).toBe(total);
  expect(deltas.map(({ seq }) => seq)).toEqual(deltas.map((_, index) => index + 1));
}

async function openLive(host: ScriptedHost): Promise<ScriptedHost> {
  await host.client.initialize();
  return host;
}

describe("live output", () => {
  const open = useScriptedHosts();

  it("is not sent to an orchestrator that did not introduce itself, nor is anything else unasked", async () => {
    const host = open();
    const { id, process } = await startSession(host);
    process.print("silence");
    process.end(0);
    await host.client.write({ processId: id });
    expect(host.client.messages.map(({ type }) => type)).toEqual(["call_tool_response", "call_tool_response"]);
  });

  it("comes from byte 0 on while a call waits, and all of it before the answer", async () => {
    const { client, backend } = await openLive(open());
    const answer = client.exec({ command: ["scripted"] }, "call");
    const process = await backend.started(0);
    process.print("one");
    const delta = await client.ofType("tool_output");
    expect(delta).toEqual({
      type: "tool_output",
      requestId: "call",
      processId: 1000,
      seq: 1,
      offset: 0,
      stream: "stdout",
      chunk: Buffer.from("one").toString("base64"),
    });
    process.print("two", "stderr");
    process.print("three");
    process.end(0);
    const { output } = await answer;
    expect(bytesOf(client.deltas("call")).toString()).toBe(output);
    expect(client.deltas().map(({ stream }) => stream)).toEqual(["stdout", "stderr", "stdout"]);
    expect(client.messages.at(-1)?.type).toBe("call_tool_response");
    expectWhole(client, 11);
  });

  it("of the time between two calls is delivered by the next one, and nothing is sent twice", async () => {
    const host = await openLive(open());
    const { client, clock } = host;
    const { id, process } = await startSession(host);
    for (const text of ["first", "second", "third"]) {
      process.print(`${text} between`);
      const requestId = client.newId();
      const answer = client.write({ processId: id, yieldTimeMs: 10 }, requestId);
      await clock.untilWaiting();
      process.print(`${text} while`);
      clock.advance(10);
      const { output } = await answer;
      expect(output).toBe(`${text} between${text} while`);
      expect(bytesOf(client.deltas(requestId)).toString()).toBe(output);
    }
    process.print("rest");
    process.end(0);
    await client.write({ processId: id });
    expectWhole(client, process.log.end);
  });

  it("comes in pieces of at most 8192 bytes, cut between characters", async () => {
    const { client, backend } = await openLive(open());
    const text = `${"a".repeat(8190)}€${"b".repeat(8190)}€€`;
    const answer = client.exec({ command: ["scripted"], maxOutputTokens: 100_000 });
    const process = await backend.started(0);
    process.print(text);
    process.end(0);
    expect((await answer).output).toBe(text);
    for (const { chunk } of client.deltas()) {
      const bytes = Buffer.from(chunk, "base64");
      expect(bytes.length).toBeLessThanOrEqual(8192);
      expect(bytes.toString()).not.toContain("\ufffd");
    }
    expectWhole(client, Buffer.byteLength(text));
  });

  it("cuts what is no text anywhere, and loses none of it", async () => {
    const { client, backend } = await openLive(open());
    const answer = client.exec({ command: ["scripted"] });
    const process = await backend.started(0);
    const bytes = Buffer.alloc(30_000, 0xe2);
    process.print(bytes);
    process.end(0);
    await answer;
    expect(bytesOf(client.deltas()).equals(bytes)).toBe(true);
    expectWhole(client, 30_000);
  });

  it("holds a character back until it is whole: to the next chunk, the next call, or the end", async () => {
    const host = await openLive(open());
    const { client, clock } = host;
    const { id, process } = await startSession(host);
    const euro = Buffer.from("€");
    process.print(Buffer.concat([Buffer.from("a"), euro.subarray(0, 1)]));
    const first = client.write({ processId: id, yieldTimeMs: 10 }, "first");
    await clock.untilWaiting();
    process.print(euro.subarray(1, 2));
    clock.advance(10);
    expect((await first).output).toBe("a");
    expect(bytesOf(client.deltas("first")).toString()).toBe("a");
    process.print(euro.subarray(2));
    const second = client.write({ processId: id, yieldTimeMs: 10 }, "second");
    await clock.untilWaiting();
    clock.advance(10);
    expect((await second).output).toBe("€");
    expect(client.deltas("second").map(({ chunk }) => Buffer.from(chunk, "base64").toString())).toEqual(["€"]);
    process.print(euro.subarray(0, 2));
    process.print("E", "stderr"); // of another stream: what was held goes first, as it is
    process.print(euro.subarray(0, 2));
    process.end(0);
    await client.write({ processId: id });
    expectWhole(client, 9);
  });

  it("tells by its offset what was evicted before it could be sent", async () => {
    const host = await openLive(open({ limits: { log: { headBytes: 4, tailBytes: 4, spillBytes: 0 } } }));
    const { id, process } = await startSession(host);
    for (const text of ["aaaa", "bbbb", "cccc"]) process.print(text);
    process.end(0);
    const { result, output } = await host.client.write({ processId: id });
    expect(offsets(host.client.deltas())).toEqual([
      [0, 4],
      [8, 12],
    ]);
    expect(result.omitted).toEqual([{ from: 4, to: 8, reason: "evicted" }]);
    expect(output).toContain("nothing is retained (whenFull `spill`)\n\naaaa…1 tokens truncated…cccc");
  });

  it("pauses the process while the orchestrator does not read, instead of piling up", async () => {
    const host = await openLive(open({ channel: { highWaterBytes: 32 * 1024 } }));
    const { client, backend } = host;
    const release = client.stall();
    const answer = client.exec({ command: ["scripted"] }, "stalled");
    const process = await backend.started(0);
    // The event to wait for is that the log asks the process to pause; each print is one chunk of output.
    for (let printed = 0; !process.paused; printed += 65_536) {
      expect(printed).toBeLessThan(2 * 1024 * 1024);
      process.print(Buffer.alloc(65_536, 0x61));
      await settle();
    }
    const total = process.log.end;
    process.end(0);
    release();
    expect((await answer).result.range).toEqual({ from: 0, to: total });
    expectWhole(client, total);
    expect(process.paused).toBe(false);
  });

  it("of a call that fails is left to the next one, nothing twice", async () => {
    const host = await openLive(open({ channel: { highWaterBytes: 16 * 1024 } }));
    const { client, clock } = host;
    const { id, process } = await startSession(host, { tty: true });
    const release = client.stall();
    process.holdWrites = true;
    process.print("x".repeat(100_000));
    const failing = client.call("write_stdin", writeRequest({ processId: id, input: "lost" }), "failing");
    await clock.untilWaiting();
    await settle(); // the channel is full by now
    process.breakWrites(0);
    const next = client.write({ processId: id, yieldTimeMs: 0 }, "next");
    await settle();
    release();
    expect(errorOf(await failing)).toMatch(/0 of 4 bytes of input were taken/);
    await clock.untilWaiting();
    clock.advance(0);
    expect((await next).result.range).toEqual({ from: 0, to: 100_000 });
    expectWhole(client, 100_000);
    expect(client.deltas("failing").length).toBeLessThan(client.deltas("next").length);
  });

  it("ends with its call when that is cancelled", async () => {
    const host = await openLive(open());
    const { client, backend, clock } = host;
    const answer = client.exec({ command: ["scripted"] }, "call");
    const process = await backend.started(0);
    await clock.untilWaiting();
    process.print("before");
    await client.send({ type: "cancel_tool", requestId: "call" });
    expect((await answer).output).toBe("before");
    process.print("after");
    process.end(0);
    await client.write({ processId: 1000 }, "next");
    expect(bytesOf(client.deltas("call")).toString()).toBe("before");
    expect(bytesOf(client.deltas("next")).toString()).toBe("after");
  });
});

describe("the end of a session", () => {
  const open = useScriptedHosts();

  it("is reported unasked, after the response that named the session", async () => {
    const host = await openLive(open());
    const { id, process } = await startSession(host);
    process.end({ kind: "signaled", signal: "SIGSEGV", by: "self" });
    expect(await host.client.ofType("session_exited")).toEqual({
      type: "session_exited",
      processId: id,
      outcome: { kind: "signaled", signal: "SIGSEGV", by: "self" },
    });
    expect((await host.client.write({ processId: id })).result.exitCode).toBe(139);
  });

  it("is reported after the response, also when it happened while that was on its way", async () => {
    const host = await openLive(open({ channel: { highWaterBytes: 16 * 1024 } }));
    const { client, backend, clock } = host;
    const release = client.stall();
    const answer = client.exec({ command: ["scripted"], yieldTimeMs: 10 });
    const process = await backend.started(0);
    process.print("x".repeat(100_000));
    await clock.untilWaiting();
    clock.advance(10);
    await settle(); // the window is over; its live output cannot be sent yet
    process.end(6);
    await settle();
    release();
    expect((await answer).result).toMatchObject({ processId: 1000, outcome: { kind: "running" } });
    await client.ofType("session_exited");
    const order = client.messages.map(({ type }) => type).filter((type) => type !== "tool_output");
    expect(order).toEqual(["initialize_response", "call_tool_response", "session_exited"]);
  });

  it("is not told of a command that ended in its first window", async () => {
    const host = await openLive(open());
    const answer = host.client.exec({ command: ["scripted"] });
    (await host.backend.started(0)).end(0);
    await answer;
    const { id, process } = await startSession(host);
    process.end(1);
    await host.client.ofType("session_exited");
    expect(host.client.all("session_exited").map(({ processId }) => processId)).toEqual([id]);
  });

  it("comes with its time limit, whoever waits", async () => {
    const host = await openLive(open());
    const { id, process } = await startSession(host, { timeoutMs: 500 });
    expect(host.clock.waiting).toBe(1);
    host.clock.advance(499);
    expect(process.events).toEqual([]);
    host.clock.advance(1);
    expect(process.events).toEqual(["terminate timeout"]);
    const { result } = await host.client.write({ processId: id });
    expect(result).toMatchObject({
      exitCode: 143,
      outcome: { kind: "signaled", signal: "SIGTERM", by: "timeout" },
      notices: ["the time limit of 500 ms was reached, and the session was ended"],
    });
  });

  it("ends its time limit", async () => {
    const host = open();
    const { process } = await startSession(host, { timeoutMs: 500 });
    process.end(0);
    await process.exited;
    expect(host.clock.waiting).toBe(0);
  });
});
