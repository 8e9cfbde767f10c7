import { Backoff } from "@codex/clock";
import { describe, expect, it } from "vitest";

const open = (random: number, leastShare?: number) =>
  new Backoff({
    firstMs: 100,
    longestMs: 1_000,
    random: () => random,
    ...(leastShare === undefined ? {} : { leastShare }),
  });
const take = (backoff: Backoff, count: number) => Array.from({ length: count }, () => backoff.next());

describe("a backoff", () => {
  it("doubles the pause with each failure, up to a limit, and starts again after a success", () => {
    const backoff = open(1);
    expect(take(backoff, 6)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    take(backoff, 5_000);
    expect(backoff.next()).toBe(1_000);
    backoff.reset();
    expect(backoff.next()).toBe(100);
  });

  it("draws a pause between a share and all of its length", () => {
    expect(take(open(0), 3)).toEqual([50, 100, 200]);
    expect(take(open(0, 0), 3)).toEqual([0, 0, 0]);
    expect(take(open(0.5, 0), 3)).toEqual([50, 100, 200]);
  });

  it("waits as long as it was told, and a random time more", () => {
    expect(open(0.25).next(5_000)).toBe(5_025);
    expect(open(1).next(10)).toBe(100);
  });
});
