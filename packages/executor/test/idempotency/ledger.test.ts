import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ToolCallOutcome } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { Ledger } from "../../src/idempotency/ledger.js";
import { ToolError } from "../../src/index.js";

const LIMITS = {
  retainedResults: 2,
  retainedResultBytes: 100,
  retainedKeys: 4,
  keyBytes: 16,
  forgottenKeys: 3,
  keySeries: 1,
};
const answer = (text: string): ToolCallOutcome => ({ status: "success", content: [{ type: "input_text", text }] });
const textOf = (outcome: ToolCallOutcome) =>
  outcome.status === "success" ? outcome.content[0]?.text : outcome.message;

function createWait() {
  const controller = new AbortController();
  return { signal: controller.signal, endWait: () => controller.abort() };
}

function createRun(limits = LIMITS) {
  const ledger = new Ledger(limits);
  let runs = 0;
  const run = (key: string, text = () => `${++runs}`) =>
    ledger.run({ scope: "s", key }, createWait(), async () => answer(text())).then(textOf);
  return { ledger, run, count: () => runs };
}

describe("a ledger", () => {
  it("counts the structured part of a result", async () => {
    const ledger = new Ledger({ ...LIMITS, retainedResults: 100, retainedKeys: 100, retainedResultBytes: 10_000 });
    const structured = { chunks: [{ offset: 0, data: "x".repeat(3000) }] };
    const run = (key: string) =>
      ledger.run(
        { scope: "s", key },
        createWait(),
        async () => ({ ...answer("short"), structured }) as ToolCallOutcome,
      );
    for (const key of ["a", "b", "c", "d"]) await run(key);
    await expect(async () => run("a")).rejects.toThrow("no longer retained");
    expect(await run("d")).toMatchObject({ structured });
  });

  it("runs a call once, and returns its result to a repeat", async () => {
    const { run, ledger } = createRun();
    expect([await run("a"), await run("a"), await run("b")]).toEqual(["1", "1", "2"]);
    const elsewhere = ledger.run({ scope: "t", key: "a" }, createWait(), async () => answer("other"));
    expect(textOf(await elsewhere)).toBe("other");
  });

  it.each([
    ["of the same name in another scope", { scope: "s", key: "job#1" }, { scope: "t", key: "job#1" }],
    ["whose scope and key read the same together", { scope: "s", key: "t k" }, { scope: "s t", key: "k" }],
  ])("keeps keys %s apart, also when they are forgotten", async (_name, mine, other) => {
    const ledger = new Ledger({ ...LIMITS, retainedKeys: 1, keySeries: 8 });
    let runs = 0;
    const run = (name: { scope: string; key: string }) =>
      ledger.run(name, createWait(), async () => answer(`${++runs}`)).then(textOf);
    await run(mine);
    for (let number = 2; number < 6; number += 1) await run({ scope: mine.scope, key: `job#${number}` });
    expect(await run(other)).toBe("6");
    await expect(async () => run(mine)).rejects.toThrow("was made before");
    ledger.endScope(mine.scope);
    expect(runs).toBe(6);
  });

  it("lets a repeat wait for a call in progress", async () => {
    const ledger = new Ledger(LIMITS);
    let finish!: (outcome: ToolCallOutcome) => void;
    const wait = createWait();
    const first = ledger.run(
      { scope: "s", key: "a" },
      wait,
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const second = ledger.run({ scope: "s", key: "a" }, wait, () => Promise.reject(new Error("ran twice")));
    finish(answer("once"));
    expect([textOf(await first), textOf(await second)]).toEqual(["once", "once"]);
  });

  it("ends the wait of a call when that of a repeat is ended", async () => {
    const ledger = new Ledger(LIMITS);
    const wait = createWait();
    const first = ledger.run(
      { scope: "s", key: "a" },
      wait,
      () => new Promise((resolve) => wait.signal.addEventListener("abort", () => resolve(answer("early")))),
    );
    const repeat = createWait();
    const second = ledger.run({ scope: "s", key: "a" }, repeat, () => Promise.reject(new Error("ran twice")));
    repeat.endWait();
    expect([textOf(await first), textOf(await second)]).toEqual(["early", "early"]);
  });

  it("drops results over its limits, and still runs nothing twice", async () => {
    const { run, count } = createRun();
    for (const key of ["a", "b", "c"]) await run(key);
    expect(() => run("a")).toThrow(ToolError);
    expect(() => run("a")).toThrow(/not made again/);
    expect([await run("b"), await run("c"), count()]).toEqual(["2", "3", 3]);
    await run("long", () => "x".repeat(100));
    expect(() => run("c")).toThrow(/no longer retained/);
    expect(await run("long")).toHaveLength(100);
  });

  it("retains the result of a long call, though many others completed in the meantime", async () => {
    const { ledger, run } = createRun();
    let finish!: (outcome: ToolCallOutcome) => void;
    const wait = createWait();
    const answered = new Promise<ToolCallOutcome>((resolve) => {
      finish = resolve;
    });
    const first = ledger.run({ scope: "s", key: "a" }, wait, () => answered);
    for (const key of ["b", "c"]) await run(key);
    finish(answer("late"));
    await first;
    expect(await run("a")).toBe("late");
    expect(() => run("b")).toThrow(/no longer retained/);
    expect(await run("c")).toBe("2");
  });

  it("refuses a repeat of a call of which only a digest is retained", async () => {
    const { run, count } = createRun();
    for (const key of ["a", "b", "c", "d", "e"]) await run(key);
    expect(() => run("a")).toThrow(/made before and is not made again/);
    expect(count()).toBe(5);
  });

  it("runs nothing under an unknown key once digests are at their limit", async () => {
    const { run, count } = createRun();
    for (const key of ["a", "b", "c", "d", "e", "f", "g"]) await run(key);
    expect(() => run("h")).toThrow(/unknown whether it was made before, as the limit of 3 remembered keys is reached/);
    expect(() => run("a")).toThrow(/not made again/);
    expect(await run("g")).toBe("7");
    expect(count()).toBe(7);
  });

  it("recognizes any number of numbered keys by the largest dropped number", async () => {
    const { run, count } = createRun();
    for (let number = 1; number <= 100; number++) expect(await run(`n#${number}`)).toBe(`${number}`);
    for (const number of [1, 50, 96]) expect(() => run(`n#${number}`)).toThrow(/not made again/);
    expect(await run("n#100")).toBe("100");
    expect(count()).toBe(100);
  });

  it("keeps the dropped numbers of one series apart from those of the next", async () => {
    const { run } = createRun();
    for (let number = 1; number <= 5; number++) await run(`a#${number}`);
    expect(await run("b#1")).toBe("6");
    for (let number = 2; number <= 4; number++) await run(`b#${number}`);
    expect(() => run("a#1")).toThrow(/not made again/);
  });

  it("does not repeat a call that failed in an unknown way", async () => {
    const ledger = new Ledger(LIMITS);
    const wait = createWait();
    const key = { scope: "s", key: "a" };
    await expect(ledger.run(key, wait, () => Promise.reject(new Error("a fault")))).rejects.toThrow("a fault");
    expect(() => ledger.run(key, wait, async () => answer("again"))).toThrow(/not made again/);
  });

  it("retains the result of a call, and no reference to the call itself", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const { ledger, run } = createRun();
    const made = await (async () => {
      let signal!: WeakRef<AbortSignal>;
      const wait = createWait();
      await ledger.run({ scope: "s", key: "a" }, wait, async () => {
        signal = new WeakRef(wait.signal);
        return answer("first");
      });
      return signal;
    })();
    await new Promise((next) => setImmediate(next)); // a WeakRef lives to the end of its turn
    collectGarbage();
    expect(made.deref()).toBeUndefined();
    expect(await run("a")).toBe("first");
  });

  it("bounds the bytes of a key", () => {
    const { run } = createRun();
    expect(() => run("é".repeat(9))).toThrow("the key of a call has 18 bytes; the limit is 16 bytes");
  });

  it("retains no more of calls that throw than of others, and repeats none of them", async () => {
    const ledger = new Ledger(LIMITS);
    const wait = createWait();
    let runs = 0;
    const run = (key: string) =>
      ledger.run({ scope: "s", key }, wait, () => {
        runs += 1;
        return Promise.reject(new Error("boom"));
      });
    for (let number = 1; number <= 20; number++) await expect(run(`k#${number}`)).rejects.toThrow("boom");
    expect(ledger.size).toBeLessThanOrEqual(LIMITS.retainedKeys);
    for (let number = 1; number <= 20; number++) expect(() => run(`k#${number}`)).toThrow(/was made before/);
    expect(runs).toBe(20);
  });
});
