import { doubled } from "@codex/clock";
import type { RetryLimits } from "../limits.js";
import type { ModelError } from "../model-port.js";

/**
 * Decides whether a failed response is retried, and after which delay; undefined: no retry.
 * @param attempt number of the retry, from 1; refused connections and broken streams are counted separately
 * @param random returns a number in [0, 1)
 */
export function decideRetry(
  error: Pick<ModelError, "retry" | "retryAfterMs">,
  attempt: number,
  limits: RetryLimits,
  random: () => number,
): { delayMs: number } | undefined {
  switch (error.retry) {
    case "never":
      return undefined;
    case "refused":
      return { delayMs: doubled(limits.refusedPauseMs, attempt - 1, limits.refusedPauseMaxMs) };
    case "stream":
      if (attempt > limits.streamRetries) return undefined;
      return { delayMs: error.retryAfterMs ?? backOff(attempt, limits, random) };
  }
}

/** Delay before retry number `attempt`, from 1, milliseconds. */
export function backOff(attempt: number, limits: RetryLimits, random: () => number): number {
  const base = doubled(limits.pauseMs, attempt - 1, limits.pauseMaxMs);
  return Math.round(base * (1 - limits.jitter + 2 * limits.jitter * random()));
}
