import { FakeClock } from "@codex/clock/testing";
import { describe, expect, it } from "vitest";
import { retry } from "../../src/connection/retry.js";

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

describe("retry", () => {
  const open = (random: () => number, withinMs = 10_000) => {
    const clock = new FakeClock();
    const closing = new AbortController();
    const attempts: number[] = [];
    let now = 0;
    const options = { clock, withinMs, baseMs: 100, maxMs: 1_000, attemptMs: 3_000, random, signal: closing.signal };
    const advance = async (ms: number) => {
      now += ms;
      clock.advance(ms);
      await turns();
    };
    const begin = <T>(attempt: (signal: AbortSignal) => Promise<T>) =>
      retry((signal) => {
        attempts.push(now);
        return attempt(signal);
      }, options);
    return { clock, closing, attempts, advance, begin };
  };

  it("increases the delay between attempts up to a limit, within its time limit", async () => {
    const { attempts, advance, begin, clock } = open(() => 0.999_999, 5_000);
    const result = begin(() => Promise.reject(new Error("no route")));
    for (let ms = 0; ms < 5_001; ms++) await advance(1);
    expect(await result).toEqual({ kind: "failed", reason: "no route", isFinal: false });
    expect(attempts).toEqual([100, 300, 700, 1_500, 2_500, 3_500, 4_500]);
    expect(clock.pending).toBe(0);
  });

  it("draws delays starting from zero", async () => {
    const { attempts, advance, begin } = open(() => 0);
    let left = 3;
    const result = begin(async () => {
      left -= 1;
      if (left > 0) throw new Error("not yet");
      return "there";
    });
    for (let count = 0; count < 3; count++) await advance(0);
    expect(await result).toEqual({ kind: "done", value: "there" });
    expect(attempts).toEqual([0, 0, 0]);
  });

  it("continues after an attempt that hangs", async () => {
    const { attempts, advance, begin, clock } = open(() => 0);
    const signals: AbortSignal[] = [];
    const result = begin((signal) => {
      signals.push(signal);
      return signals.length === 2 ? Promise.resolve("there") : new Promise<never>(() => {});
    });
    await advance(0);
    await advance(3_000);
    await advance(0);
    expect(await result).toEqual({ kind: "done", value: "there" });
    expect(attempts).toEqual([0, 3_000]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(clock.pending).toBe(0);
  });

  it("ends on its signal, even during an attempt that ignores its own", async () => {
    const { closing, advance, begin, clock } = open(() => 0);
    const result = begin(() => new Promise<never>(() => {}));
    await advance(0);
    closing.abort();
    expect(await result).toMatchObject({ kind: "failed" });
    expect(clock.pending).toBe(0);
  });
});
