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
      return { delayMs: Math.min(double(limits.refusedPauseMs, attempt), limits.refusedPauseMaxMs) };
    case "stream":
      if (attempt > limits.streamRetries) return undefined;
      return { delayMs: error.retryAfterMs ?? backOff(attempt, limits, random) };
  }
}

/** Delay before retry number `attempt`, from 1, milliseconds. */
export function backOff(attempt: number, limits: RetryLimits, random: () => number): number {
  const base = Math.min(double(limits.pauseMs, attempt), limits.pauseMaxMs);
  return Math.round(base * (1 - limits.jitter + 2 * limits.jitter * random()));
}

/** Doubles `attempt - 1` times, at most 32. */
const double = (ms: number, attempt: number): number => ms * 2 ** Math.min(attempt - 1, 32);
