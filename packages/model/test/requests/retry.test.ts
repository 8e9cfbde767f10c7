import { DEFAULT_RETRY_LIMITS, decideRetry, type RetryKind } from "@codex/model";
import { describe, expect, it } from "vitest";

const decide = (retry: RetryKind, attempt: number, retryAfterMs?: number, random = 0.5) =>
  decideRetry({ retry, retryAfterMs }, attempt, DEFAULT_RETRY_LIMITS, () => random)?.delayMs;

describe("decideRetry", () => {
  it("never repeats what can only fail again", () => {
    expect(decide("never", 1)).toBeUndefined();
  });

  it("doubles the pause of a broken stream, five times", () => {
    expect([1, 2, 3, 4, 5, 6].map((attempt) => decide("stream", attempt))).toEqual([
      200,
      400,
      800,
      1600,
      3200,
      undefined,
    ]);
  });

  it("varies a pause by a tenth", () => {
    expect([0, 1].map((random) => decide("stream", 1, undefined, random))).toEqual([180, 220]);
  });

  it("waits what the endpoint asks, whatever that is", () => {
    expect(decide("stream", 2, 3_600_000)).toBe(3_600_000);
    expect(decide("stream", 6, 1)).toBeUndefined();
  });

  it("goes on without end where connections are refused", () => {
    expect([1, 2, 3, 4, 5, 1_000].map((attempt) => decide("refused", attempt))).toEqual([
      5_000, 10_000, 20_000, 40_000, 60_000, 60_000,
    ]);
  });
});
