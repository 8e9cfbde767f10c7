import type { RetryLimits } from "../limits.js";
import type { ModelError } from "./model-port.js";

/**
 * Whether a response is asked for again after it failed, and after which pause.
 * @param attempt number of the repetition, from 1; refused rounds are counted apart from broken streams
 * @param random a number from 0 up to 1
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

/** The pause before repetition number `attempt`, from 1, milliseconds. */
export function backOff(attempt: number, limits: RetryLimits, random: () => number): number {
  const base = Math.min(double(limits.pauseMs, attempt), limits.pauseMaxMs);
  return Math.round(base * (1 - limits.jitter + 2 * limits.jitter * random()));
}

/** Doubled `attempt - 1` times, as far as a number can count. */
const double = (ms: number, attempt: number): number => ms * 2 ** Math.min(attempt - 1, 32);
