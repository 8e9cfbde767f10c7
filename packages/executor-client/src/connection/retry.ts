import { findFinal } from "@codex/channel";
import type { Clock } from "@codex/clock";
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
  const { clock, withinMs, signal } = options;
  const over = new AbortController();
  const stop = () => over.abort();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const stopClock = clock.after(withinMs, stop);
  let reason = "no attempt was made";
  try {
    for (let count = 0; ; count++) {
      await pause(count, options, over.signal);
      if (over.signal.aborted) return { kind: "failed", reason, isFinal: false };
      try {
        return { kind: "done", value: await tryOnce(attempt, options, over.signal) };
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

/** Full jitter. */
function pause(count: number, { clock, baseMs, maxMs, random }: RetryOptions, signal: AbortSignal): Promise<void> {
  const ms = Math.floor(random() * Math.min(maxMs, baseMs * 2 ** count));
  return new Promise((resolve) => {
    const finish = () => {
      stopClock();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const stopClock = clock.after(ms, finish);
    signal.addEventListener("abort", finish, { once: true });
    if (signal.aborted) finish();
  });
}

/** Limits an attempt, because one that hangs must not use up the whole time. */
async function tryOnce<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { clock, attemptMs }: RetryOptions,
  signal: AbortSignal,
): Promise<T> {
  const late = new AbortController();
  const stopClock = clock.after(attemptMs, () => late.abort());
  const both = AbortSignal.any([signal, late.signal]);
  try {
    return await unlessAborted(attempt(both), both, attemptMs);
  } finally {
    stopClock();
  }
}

/** An attempt may ignore its signal; its late result is ignored. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new Error(`an attempt took more than ${ms} ms`));
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
