import { type RecordedOutput, recordedOutputSchema } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { MAX_RECORDED_BYTES, MAX_RECORDED_CHUNKS } from "../../src/limits.js";
import { settle } from "../support/manual-clock.js";
import { type ScriptedHost, useScriptedHosts } from "../support/scripted-host.js";
import { startSession } from "../support/sessions.js";

async function read({ client }: ScriptedHost, args: object, requestId?: string): Promise<RecordedOutput> {
  const outcome = await client.call("read_output", { session_id: 1000, chunks: true, ...args }, requestId);
  if (outcome.status !== "success") throw new Error(outcome.message);
  return recordedOutputSchema.parse(outcome.structured);
}

const textOf = ({ chunks }: RecordedOutput) => chunks.map(({ data }) => Buffer.from(data, "base64").toString());

describe("read_output for a program that records", () => {
  const open = useScriptedHosts();

  it("has bytes, times and sizes", async () => {
    const host = open();
    const { process } = await startSession(host, { tty: true, size: { rows: 5, cols: 6 }, command: ["a", "b c"] });
    host.clock.advance(10);
    process.print("one");
    host.clock.advance(10);
    await host.client.write({ processId: 1000, resize: { rows: 7, cols: 8 }, yieldTimeMs: 0, until: "output" });
    host.clock.advance(10);
    process.print(Uint8Array.of(0xe2));
    expect(await read(host, {})).toMatchObject({
      command: ["a", "b c"],
      tty: true,
      range: { from: 0, to: 4 },
      end: 4,
      closed: false,
      outcome: { kind: "running" },
      gone: [],
      chunks: [
        { offset: 0, at: 10, stream: "pty", data: "b25l" },
        { offset: 3, at: 30, stream: "pty", data: "4g==" },
      ],
      size: { rows: 5, cols: 6 },
      resizes: [{ seq: 1, offset: 3, at: 20, size: { rows: 7, cols: 8 } }],
    });
    process.end(3);
    await settle();
    expect(await read(host, { from: 4 })).toMatchObject({ closed: true, exitCode: 3, exitedAt: 30, chunks: [] });
  });

  it("tells what was not retained", async () => {
    const host = open({ limits: { log: { headBytes: 2, tailBytes: 2 } } });
    const { process } = await startSession(host);
    for (const text of ["ab", "cd", "ef"]) process.print(text);
    const part = await read(host, {});
    expect([textOf(part), part.gone, part.size]).toEqual([["ab", "ef"], [{ from: 2, to: 4 }], undefined]);
  });

  it("is bounded in bytes and pieces", async () => {
    const host = open();
    const { process } = await startSession(host);
    for (let index = 0; index < MAX_RECORDED_CHUNKS + 5; index += 1) process.print("x");
    const first = await read(host, {});
    expect(first.range).toEqual({ from: 0, to: MAX_RECORDED_CHUNKS });
    expect((await read(host, { from: first.range.to })).range.to).toBe(MAX_RECORDED_CHUNKS + 5);
    process.print("y".repeat(MAX_RECORDED_BYTES + 1));
    const { range } = await read(host, { from: first.range.to, max_output_tokens: 1_000_000 });
    expect(range.to - range.from).toBe(MAX_RECORDED_BYTES);
  });

  it("waits for output, for the end, or for its time", async () => {
    const host = open();
    const { process } = await startSession(host);
    const output = read(host, { wait_ms: 1_000 });
    await host.clock.untilWaiting();
    process.print("x");
    expect(textOf(await output)).toEqual(["x"]);
    expect(host.clock.waiting).toBe(0);
    const time = read(host, { from: 1, wait_ms: 1_000 });
    await host.clock.untilWaiting();
    host.clock.advance(1_000);
    expect((await time).chunks).toEqual([]);
    const cancelled = read(host, { from: 1, wait_ms: 1_000 }, "cancelled");
    await host.clock.untilWaiting();
    await host.client.send({ type: "cancel_tool", requestId: "cancelled" });
    expect((await cancelled).chunks).toEqual([]);
    const end = read(host, { from: 1, wait_ms: 1_000 });
    await host.clock.untilWaiting();
    process.end(0);
    expect(await end).toMatchObject({ closed: true, exitCode: 0 });
  });

  it("is kept for a reader that has not seen the end, when another result has reported it", async () => {
    const host = open();
    const { process } = await startSession(host);
    process.print("first");
    const { range } = await read(host, {});
    process.print("last");
    process.end(3);
    await settle();
    expect(await host.client.write({ processId: 1000, yieldTimeMs: 0 })).toMatchObject({ result: { exitCode: 3 } });
    const end = await read(host, { from: range.to });
    expect([textOf(end), end.exitCode, end.gone]).toEqual([["last"], 3, []]);
  });

  it("is not kept for a reader that has seen the end", async () => {
    const host = open();
    const { process } = await startSession(host);
    process.end(3);
    await settle();
    expect(await read(host, {})).toMatchObject({ exitCode: 3, closed: true });
    await host.client.write({ processId: 1000, yieldTimeMs: 0 });
    await expect(read(host, {})).rejects.toThrow("its end was reported");
  });
});
