import { setTimeout as delay } from "node:timers/promises";

/** The time source of a client; a parameter so that tests need not wait. */
export interface ClientClock {
  /** Monotonic milliseconds; only differences matter. */
  now(): number;
  /** Resolves after the time; rejects with the reason of `signal` when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: ClientClock = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
};

/**
 * The result of `work`, or a rejection with `late()` once the time is over. `work` gets a signal that aborts then, and
 * when `outer` aborts.
 */
export async function withDeadline<T>(
  { clock, ms, late, outer }: { clock: ClientClock; ms: number; late: () => Error; outer?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const abort = new AbortController();
  const onOuter = () => abort.abort(outer?.reason);
  if (outer?.aborted === true) onOuter();
  outer?.addEventListener("abort", onOuter);
  const timer = clock.sleep(ms, done.signal).then(
    () => abort.abort(late()),
    () => {}, // `work` settled in time
  );
  const aborted = new Promise<never>((_, reject) => {
    const fail = () => reject(abort.signal.reason);
    if (abort.signal.aborted) fail();
    abort.signal.addEventListener("abort", fail);
  });
  try {
    return await Promise.race([work(abort.signal), aborted]);
  } finally {
    outer?.removeEventListener("abort", onOuter);
    done.abort();
    await timer;
  }
}
