import { describe, expect, it } from "vitest";
import { errorOf } from "../support/client.js";
import { settle } from "../support/manual-clock.js";
import { useScriptedHosts } from "../support/scripted-host.js";

const COMMAND = { command: ["scripted"], yieldTimeMs: 1_000 };

describe("the window of a call", () => {
  const open = useScriptedHosts();

  it("ends with the output, with one timer and without one more turn of the clock", async () => {
    const { client, backend, clock } = open();
    const answer = client.exec(COMMAND);
    const process = await backend.started(0);
    await clock.untilWaiting();
    process.print("one\n");
    clock.advance(400);
    process.print("two\n"); // a pause is no end
    clock.advance(400);
    expect(clock.waiting).toBe(1);
    process.exit(0);
    process.print("three\n");
    process.close();
    const { output, result } = await answer;
    expect(output).toBe("one\ntwo\nthree\n");
    expect(result).toMatchObject({ wallTimeSeconds: 0.8, exitCode: 0, closed: true });
    expect(clock.waiting).toBe(0);
  });

  it("ends at its deadline, and the next call goes on where it ended", async () => {
    const { client, backend, clock } = open();
    const first = client.exec(COMMAND);
    const process = await backend.started(0);
    process.print("one\n");
    await clock.untilWaiting();
    clock.advance(1_000);
    const { result, output, text } = await first;
    expect(output).toBe("one\n");
    expect(text).toContain("\nProcess running with session ID 1000\n");
    expect(result).toMatchObject({ processId: 1000, outcome: { kind: "running" }, closed: false, wallTimeSeconds: 1 });
    expect(result).not.toHaveProperty("exitCode");
    process.print("two\n");
    const second = client.write({ processId: 1000, yieldTimeMs: 500 });
    await clock.untilWaiting();
    clock.advance(500);
    const next = await second;
    expect(next.output).toBe("two\n");
    expect(next.result).toMatchObject({ range: { from: 4, to: 8 }, wallTimeSeconds: 0.5, processId: 1000 });
    process.end({ kind: "signaled", signal: "SIGKILL", by: "unknown" });
    const last = await client.write({ processId: 1000 });
    expect(last.text).toContain("\nProcess was killed by SIGKILL (exit code 137)\n");
    expect(last.result).toMatchObject({ exitCode: 137, closed: true, range: { from: 8, to: 8 } });
    expect(last.result).not.toHaveProperty("processId");
  });

  it("is over at once when it has no length", async () => {
    const { client, backend, clock } = open();
    const answer = client.exec({ ...COMMAND, yieldTimeMs: 0 });
    await backend.started(0);
    await clock.untilWaiting();
    clock.advance(0);
    expect((await answer).result.processId).toBe(1000);
  });

  it("waits for 50 ms without output that somebody else holds open after the exit, and keeps what comes later", async () => {
    const { client, backend, clock } = open();
    const answer = client.exec(COMMAND);
    const process = await backend.started(0);
    await clock.untilWaiting();
    process.print("leaving");
    process.exit(2);
    await process.exited;
    expect(clock.waiting).toBe(1);
    clock.advance(49);
    await settle();
    process.print(" something");
    clock.advance(50);
    expect(clock.waiting).toBe(1);
    clock.advance(1);
    const { result, output, text } = await answer;
    expect(output).toBe("leaving something");
    expect(result).toMatchObject({ exitCode: 2, closed: false });
    expect(result).not.toHaveProperty("processId");
    expect(text).toMatch(/Note: .*read_output with session_id 1000 and from 17 reads later output/);
    process.print(" behind");
    const rest = await client.call("read_output", { session_id: 1000, from: 17 });
    expect(JSON.stringify(rest)).toContain("Output:\\n behind");
    process.close();
    const poll = await client.write({ processId: 1000 });
    expect(poll).toMatchObject({ output: " behind", result: { closed: true, exitCode: 2 } });
    expect(errorOf(await client.call("write_stdin", gone))).toMatch(/^unknown session 1000; it has ended.*code 2$/);
  });

  it("gives up the place of a session that was answered before its output was complete", async () => {
    const { client, backend, clock } = open();
    const answer = client.exec(COMMAND);
    const process = await backend.started(0);
    await clock.untilWaiting();
    process.exit(0);
    await process.exited;
    clock.advance(50);
    await answer;
    process.close();
    await process.closed;
    expect(errorOf(await client.call("write_stdin", gone))).toMatch(/unknown session 1000/);
    expect(process.disposed).toBe(true);
  });

  it("reaches 50 ms past its deadline rather than telling an end without the last bytes", async () => {
    const { client, backend, clock } = open();
    const answer = client.exec(COMMAND);
    const process = await backend.started(0);
    await clock.untilWaiting();
    clock.advance(990);
    process.exit(0);
    clock.advance(10);
    await settle();
    process.print("last");
    process.close();
    expect(await answer).toMatchObject({ output: "last", result: { closed: true } });
  });

  it("answers a poll of an ended session at once, also one whose output is held open", async () => {
    const { client, backend, clock } = open();
    const first = client.exec({ ...COMMAND, yieldTimeMs: 0 });
    const process = await backend.started(0);
    await clock.untilWaiting();
    clock.advance(0);
    await first;
    process.print("late");
    process.exit(0);
    await process.exited;
    clock.advance(50);
    const held = await client.write({ processId: 1000 });
    expect(held).toMatchObject({ output: "late", result: { closed: false, exitCode: 0 } });
    expect(clock.waiting).toBe(0);
  });

  it("ends at the first output when asked to, not at output that was answered before", async () => {
    const { client, backend, clock } = open();
    const first = client.exec({ ...COMMAND, yieldTimeMs: 0 });
    const process = await backend.started(0);
    process.print("before");
    await clock.untilWaiting();
    clock.advance(0);
    expect((await first).output).toBe("before");
    const second = client.write({ processId: 1000, until: "output" });
    await clock.untilWaiting();
    process.print("news");
    expect((await second).output).toBe("news");
    process.print("unread");
    const third = client.write({ processId: 1000, until: "output" });
    expect((await third).output).toBe("unread");
    const fourth = client.write({ processId: 1000, until: "output", yieldTimeMs: 10 });
    await clock.untilWaiting();
    clock.advance(10);
    expect((await fourth).output).toBe("");
  });

  it("ends at output that came after the input, and not at the rest of a character", async () => {
    const { client, backend, clock } = open();
    const first = client.exec({ ...COMMAND, tty: true, yieldTimeMs: 0 });
    const process = await backend.started(0);
    process.print(Buffer.from([0xe2, 0x82]));
    await clock.untilWaiting();
    clock.advance(0);
    await first;
    const second = client.write({ processId: 1000, until: "output", yieldTimeMs: 10 });
    await clock.untilWaiting();
    clock.advance(10);
    expect(await second).toMatchObject({ output: "", result: { wallTimeSeconds: 0.01 } });
    process.print(Buffer.from([0xac]));
    const third = client.write({ processId: 1000, input: "x", until: "output" });
    await clock.untilWaiting();
    clock.advance(10);
    process.print("!");
    expect(await third).toMatchObject({ output: "€!", result: { wallTimeSeconds: 0.01 } });
  });

  it("is cut to the longest there is, as the budget is, and the answer says so", async () => {
    const { client, backend, clock } = open({ limits: { windowMs: 100, budgetBytes: 400 } });
    const answer = client.exec({ ...COMMAND, yieldTimeMs: 101, maxOutputTokens: 101 });
    const process = await backend.started(0);
    process.print("x".repeat(500));
    await clock.untilWaiting();
    clock.advance(100);
    const { result, text } = await answer;
    expect(result.notices).toEqual([
      "the window of 101 ms was cut to 100 ms, the limit of this executor",
      "the budget of 101 tokens was cut to 100 tokens, the limit of this executor",
    ]);
    expect(text).toContain("\nNote: the window of 101 ms was cut to 100 ms");
    expect(result.omitted).toEqual([{ from: 200, to: 300, reason: "budget" }]);
  });

  it("ends when the call is cancelled; the session lives on under the id of the answer", async () => {
    const { client, backend, clock } = open();
    const answer = client.exec(COMMAND, "call");
    const process = await backend.started(0);
    process.print("so far");
    await clock.untilWaiting();
    await client.send({ type: "cancel_tool", requestId: "call" });
    const { result, output } = await answer;
    expect(output).toBe("so far");
    expect(result).toMatchObject({ processId: 1000, outcome: { kind: "running" } });
    expect(process.events).toEqual([]);
    process.end(0);
    expect((await client.write({ processId: 1000 })).result.exitCode).toBe(0);
    await client.send({ type: "cancel_tool", requestId: "call" }); // answered before: no error
    await client.call("list_sessions", {});
    expect(client.all("error")).toEqual([]);
  });

  it("carries a character that was split over two polls", async () => {
    const { client, backend, clock } = open();
    const euro = Buffer.from("€");
    const first = client.exec({ ...COMMAND, yieldTimeMs: 10 });
    const process = await backend.started(0);
    process.print(Buffer.concat([Buffer.from("a"), euro.subarray(0, 2)]));
    await clock.untilWaiting();
    clock.advance(10);
    expect(await first).toMatchObject({ output: "a", result: { range: { from: 0, to: 1 } } });
    process.print(Buffer.concat([euro.subarray(2), Buffer.from("b"), euro.subarray(0, 1)]));
    const second = client.write({ processId: 1000, yieldTimeMs: 10 });
    await clock.untilWaiting();
    clock.advance(10);
    expect(await second).toMatchObject({ output: "€b", result: { range: { from: 1, to: 5 } } });
    process.end(0);
    expect(await client.write({ processId: 1000 })).toMatchObject({
      output: "\ufffd",
      result: { range: { from: 5, to: 6 } },
    });
  });

  it("answers nothing twice and nothing never, over polls of every length", async () => {
    const { client, backend, clock } = open();
    const first = client.exec({ ...COMMAND, yieldTimeMs: 10, maxOutputTokens: 2 });
    const process = await backend.started(0);
    const ranges: { from: number; to: number }[] = [];
    let answer = first;
    for (let size = 0; size < 40; size += 7) {
      process.print("z".repeat(size));
      await clock.untilWaiting();
      clock.advance(10);
      ranges.push((await answer).result.range);
      answer = client.write({ processId: 1000, yieldTimeMs: 10, maxOutputTokens: 2 });
    }
    process.end(0);
    ranges.push((await answer).result.range);
    expect(ranges.map(({ from }) => from)).toEqual([0, ...ranges.slice(0, -1).map(({ to }) => to)]);
    expect(ranges.at(-1)?.to).toBe(process.log.end);
  });
});

const gone = { processId: 1000, input: "", yieldTimeMs: 0, maxOutputTokens: 0 };
