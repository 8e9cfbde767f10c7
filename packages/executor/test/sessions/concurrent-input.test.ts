import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ECHO_MS } from "../../src/limits.js";
import { bytesOf, errorOf, writeRequest } from "../support/client.js";
import { useScriptedHosts } from "../support/scripted-host.js";
import { startSession } from "../support/sessions.js";

describe("concurrent input", () => {
  const open = useScriptedHosts();

  it("is written beside a call that waits, which goes on and has the output", async () => {
    const host = open();
    await host.client.initialize();
    const { id, process } = await startSession(host, { stdin: "open" });
    const wait = host.client.write({ processId: id, yieldTimeMs: 10_000 }, "wait");
    await host.clock.untilWaiting();
    const written = await host.client.write({ processId: id, input: "a", concurrent: true }, "input");
    expect(written.result).toMatchObject({ processId: id, range: { from: 0, to: 0 }, waitEnded: "written" });
    process.print("echo");
    process.end(0);
    expect((await wait).result).toMatchObject({ range: { from: 0, to: 4 }, exitCode: 0, closed: true });
    expect(bytesOf(host.client.deltas("wait")).toString()).toBe("echo");
    expect(host.client.deltas("input")).toEqual([]);
  });

  it("keeps its order, and is written once for each `writeId`", async () => {
    const host = open();
    const { id, process } = await startSession(host, { stdin: "open" });
    process.holdWrites = true;
    const write = (input: string, writeId: string) =>
      host.client.write({ processId: id, input, writeId, concurrent: true });
    const answers = [write("1", "a"), write("2", "b"), write("1", "a"), write("3", "c")];
    await host.client.untilTaken();
    process.holdWrites = false;
    process.takeWrites();
    await Promise.all(answers);
    expect(process.events).toEqual(["write 1", "write 2", "write 3"]);
  });

  it("that is taken at once starts no timer, and has one response", async () => {
    const host = open();
    await host.client.initialize();
    const { id } = await startSession(host, { stdin: "open" });
    const wait = host.client.write({ processId: id, yieldTimeMs: 10_000 }, "wait");
    await host.clock.untilWaiting();
    const [started, received] = [host.clock.started, host.client.messages.length];
    const keys = ["a", "b", "c"];
    for (const input of keys) await host.client.write({ processId: id, input, writeId: input, concurrent: true });
    expect(host.clock.started).toBe(started);
    expect(host.client.messages).toHaveLength(received + keys.length);
    await host.client.send({ type: "cancel_tool", requestId: "wait" });
    await wait;
  });

  it("waits for the program to take it, until it is cancelled", async () => {
    const host = open();
    const { id, process } = await startSession(host, { stdin: "open" });
    process.holdWrites = true;
    const answer = host.client.write({ processId: id, input: "slow", concurrent: true }, "slow");
    await host.clock.untilWaiting();
    await host.client.send({ type: "cancel_tool", requestId: "slow" });
    const { result } = await answer;
    expect(result).toMatchObject({ waitEnded: "cancelled", range: { from: 0, to: 0 } });
    expect(result.notices?.[0]).toMatch(/has not read all of the 4 bytes of input yet/);
    process.takeWrites();
    expect(process.events).toEqual(["write slow"]);
  });

  it("is answered on a terminal behind the echo, or once that did not come", async () => {
    const host = open();
    await host.client.initialize();
    const { id, process } = await startSession(host, { tty: true });
    const wait = host.client.write({ processId: id, yieldTimeMs: 10_000 }, "wait");
    await host.clock.untilWaiting();
    const echoed = host.client.write({ processId: id, input: "x", concurrent: true }, "echoed");
    await host.clock.untilWaiting(2);
    process.print("x");
    await echoed;
    const order = host.client.messages.flatMap((message) => ("requestId" in message ? [message.requestId] : []));
    expect(order.slice(-2)).toEqual(["wait", "echoed"]);
    let isAnswered = false;
    const silent = host.client.write({ processId: id, input: "y", concurrent: true });
    void silent.then(() => {
      isAnswered = true;
    });
    for (await host.client.untilTaken(); !isAnswered; await nextTurn()) host.clock.advance(ECHO_MS);
    expect((await silent).result.waitEnded).toBe("written");
    process.end(0);
    await wait;
  });

  it("to a program that has ended is not written, and the end is left to the call that waits", async () => {
    const host = open();
    const { id, process } = await startSession(host, { stdin: "open" });
    process.end(3);
    const late = await host.client.write({ processId: id, input: "x", concurrent: true });
    expect(late.text).toContain("the process had ended: 0 of 1 bytes of input were written");
    expect((await host.client.write({ processId: id })).result).toMatchObject({ exitCode: 3 });
    const gone = writeRequest({ processId: id, input: "x", concurrent: true });
    expect(errorOf(await host.client.call("write_stdin", gone))).toContain("unknown session");
    expect(process.events).toEqual([]);
  });
});
