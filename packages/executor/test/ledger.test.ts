import type { ToolCallOutcome } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { ToolError } from "../src/index.js";
import { Ledger } from "../src/ledger.js";

const LIMITS = { keptAnswers: 2, keptAnswerBytes: 100, keptKeys: 4, keyBytes: 16 };
const answer = (text: string): ToolCallOutcome => ({ status: "success", content: [{ type: "input_text", text }] });
const textOf = (outcome: ToolCallOutcome) =>
  outcome.status === "success" ? outcome.content[0]?.text : outcome.message;

function createRun(limits = LIMITS) {
  const ledger = new Ledger(limits);
  let runs = 0;
  const run = (key: string, text = () => `${++runs}`, signal = new AbortController().signal) =>
    ledger.run({ scope: "s", key }, signal, async () => answer(text())).then(textOf);
  return { ledger, run, count: () => runs };
}

describe("a ledger", () => {
  it("runs a call once, and gives its answer to a repeat", async () => {
    const { run, ledger } = createRun();
    expect([await run("a"), await run("a"), await run("b")]).toEqual(["1", "1", "2"]);
    const elsewhere = ledger.run({ scope: "t", key: "a" }, new AbortController().signal, async () => answer("other"));
    expect(textOf(await elsewhere)).toBe("other");
  });

  it("lets a repeat wait for a call that is under way", async () => {
    const ledger = new Ledger(LIMITS);
    let finish!: (outcome: ToolCallOutcome) => void;
    const { signal } = new AbortController();
    const first = ledger.run(
      { scope: "s", key: "a" },
      signal,
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const second = ledger.run({ scope: "s", key: "a" }, signal, () => Promise.reject(new Error("ran twice")));
    finish(answer("once"));
    expect([textOf(await first), textOf(await second)]).toEqual(["once", "once"]);
  });

  it("ends the wait of a call when that of a repeat is ended", async () => {
    const ledger = new Ledger(LIMITS);
    const first = ledger.run(
      { scope: "s", key: "a" },
      new AbortController().signal,
      (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(answer("early")))),
    );
    const repeat = new AbortController();
    const second = ledger.run({ scope: "s", key: "a" }, repeat.signal, () => Promise.reject(new Error("ran twice")));
    repeat.abort();
    expect([textOf(await first), textOf(await second)]).toEqual(["early", "early"]);
  });

  it("forgets answers over its bounds, and still does nothing twice", async () => {
    const { run, count } = createRun();
    for (const key of ["a", "b", "c"]) await run(key);
    expect(() => run("a")).toThrow(ToolError);
    expect(() => run("a")).toThrow(/not made again/);
    expect([await run("b"), await run("c"), count()]).toEqual(["2", "3", 3]);
    await run("long", () => "x".repeat(100));
    expect(() => run("c")).toThrow(/not kept any longer/);
    expect(await run("long")).toHaveLength(100);
  });

  it("bounds the number of keys", async () => {
    const { run, count } = createRun();
    for (const key of ["a", "b", "c", "d", "e"]) await run(key);
    expect(count()).toBe(5);
    expect(await run("a")).toBe("6");
  });

  it("bounds the bytes of a key", () => {
    const { run } = createRun();
    expect(() => run("é".repeat(9))).toThrow("the key of a call has 18 bytes; the limit is 16 bytes");
  });
});
