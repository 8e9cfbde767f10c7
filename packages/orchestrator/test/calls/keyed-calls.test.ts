import { describe, expect, it } from "vitest";
import { KeyedCalls } from "../../src/calls/keyed-calls.js";
import { fail, type ToolCallResult } from "../../src/result.js";
import { scriptedChannel } from "../support/executors.js";
import { attached } from "../support/orchestrators.js";

const said = (text: string): ToolCallResult => ({ status: "success", isError: false, text, structured: undefined });

const of = (key: string, client?: string) => ({ key, client });

/** Counts what runs. */
function counted(results: ToolCallResult[]) {
  let runs = 0;
  const call = async () => results[runs++] ?? said("more");
  return { call, runs: () => runs };
}

describe("a call with an idempotency key", () => {
  it("runs once, while it is under way and after it", async () => {
    const { channel, executor } = scriptedChannel();
    const { orchestrator } = await attached(channel);
    const call = (cmd: string, idempotencyKey = "k") =>
      orchestrator.callTool("exec_command", { cmd }, { idempotencyKey });
    const [first, second] = await Promise.all([call("say hi"), call("say hi")]);
    expect(second).toBe(first);
    expect(await call("say hi")).toBe(first);
    expect(await call("say ho")).toMatchObject({ status: "error", structured: { code: "key_reused" } });
    await call("say hi", "other");
    expect(executor.received.filter(({ type }) => type === "call_tool")).toHaveLength(2);
  });

  it("is tried again after a refusal that decided nothing", async () => {
    const calls = new KeyedCalls({ keyedCalls: 4, keyedResultBytes: 100 });
    const { call, runs } = counted([fail("too_many_calls", "busy"), said("ran")]);
    expect(await calls.run(of("k"), "t", {}, call)).toMatchObject({ isError: true });
    expect(await calls.run(of("k"), "t", {}, call)).toMatchObject({ text: "ran" });
    expect(runs()).toBe(2);
  });

  it("is not run again when its result is not kept any more", async () => {
    const long = "x".repeat(600);
    const calls = new KeyedCalls({ keyedCalls: 4, keyedResultBytes: 1000 });
    const { call, runs } = counted([said(long), said(long)]);
    await calls.run(of("a"), "t", {}, call);
    await calls.run(of("b"), "t", {}, call);
    const again = await calls.run(of("a"), "t", {}, call);
    expect(again).toMatchObject({ status: "error", structured: { code: "repeated" } });
    expect(again.text).toMatch(/was made before.*Nothing was run again\.$/);
    expect(await calls.run(of("b"), "t", {}, call)).toMatchObject({ text: long });
    expect(runs()).toBe(2);
  });

  it("is forgotten when many others have come since", async () => {
    const calls = new KeyedCalls({ keyedCalls: 2, keyedResultBytes: 100 });
    const { call, runs } = counted([]);
    for (const key of ["a", "b", "c", "a"]) await calls.run(of(key), "t", {}, call);
    expect(runs()).toBe(4);
  });

  it("is never forgotten while it is in progress; where all are, one more is refused", async () => {
    const calls = new KeyedCalls({ keyedCalls: 2, keyedResultBytes: 100 });
    const { call, runs } = counted([]);
    let finish = (_result: ToolCallResult) => {};
    const first = calls.run(of("live"), "t", {}, () => {
      void call();
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    for (const key of ["a", "b", "c"]) await calls.run(of(key), "t", {}, call);
    const again = calls.run(of("live"), "t", {}, call);
    const other = calls.run(of("other"), "t", {}, () => new Promise(() => {}));
    const more = await calls.run(of("more"), "t", {}, call);
    expect(more).toMatchObject({ isError: true, structured: { code: "too_many_calls" } });
    expect(more.text).toContain("2 calls with idempotency keys are in progress (limit 2 calls)");
    finish(said("once"));
    expect([await first, await again]).toEqual([said("once"), said("once")]);
    expect([runs(), other instanceof Promise]).toEqual([4, true]);
  });

  it.each(["", "k".repeat(257)])("needs a key of 1 to 256 characters", async (idempotencyKey) => {
    const { channel } = scriptedChannel();
    const { orchestrator } = await attached(channel);
    const call = orchestrator.callTool("exec_command", { cmd: "pwd" }, { idempotencyKey });
    await expect(call).rejects.toThrow(/idempotencyKey has \d+ characters; expected 1 to 256 characters/);
  });
});
