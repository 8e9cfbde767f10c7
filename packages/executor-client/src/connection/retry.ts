import { findFinal } from "@codex/channel";
import { Backoff, type Clock, pause, withDeadline } from "@codex/clock";
import { messageOf } from "@codex/values";

export interface RetryOptions {
  clock: Clock;
  /** Time limit for all attempts, milliseconds. */
  withinMs: number;
  /** The delay before attempt n is drawn from 0 to `baseMs` · 2ⁿ, at most `maxMs`, so that clients of one host do not all reconnect at the same time. */
  baseMs: number;
  maxMs: number;
  /** Time limit of each attempt, milliseconds. */
  attemptMs: number;
  /** Like `Math.random`. */
  random: () => number;
  /** Aborts it. */
  signal: AbortSignal;
}

/**
 * Tries until an attempt succeeds, the time limit is reached or an error is final. Never rejects; the `signal` of an attempt aborts when
 * its result is no longer needed.
 */
export async function retry<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  options: RetryOptions,
): Promise<{ kind: "done"; value: T } | { kind: "failed"; reason: string; isFinal: boolean }> {
  const { clock, withinMs, attemptMs, baseMs, maxMs, random, signal } = options;
  const createError = () => new Error(`an attempt took more than ${attemptMs} ms`);
  const over = new AbortController();
  const stop = () => over.abort();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const stopClock = clock.after(withinMs, stop);
  const backoff = new Backoff({ firstMs: baseMs, longestMs: maxMs, leastShare: 0, random });
  let reason = "no attempt was made";
  try {
    for (;;) {
      await pause(clock, backoff.next(), over.signal).catch(() => {}); // it is over
      if (over.signal.aborted) return { kind: "failed", reason, isFinal: false };
      try {
        // One that hangs must not use up the whole time; it may ignore its signal, and its late result is ignored.
        return {
          kind: "done",
          value: await withDeadline({ clock, ms: attemptMs, createError, signal: over.signal }, attempt),
        };
      } catch (error) {
        if (!over.signal.aborted) reason = messageOf(error);
        if (findFinal(error) !== undefined) return { kind: "failed", reason, isFinal: true };
      }
    }
  } finally {
    stopClock();
    signal.removeEventListener("abort", stop);
  }
}
