import type { Clock } from "./clock.js";

/** The result of `work`, or undefined after `ms` milliseconds; the work then continues. Leaves no timer behind. */
export async function waitAtMost<T>(clock: Pick<Clock, "after">, ms: number, work: Promise<T>): Promise<T | undefined> {
  let cancel = () => {};
  const timeout = new Promise<undefined>((resolve) => {
    cancel = clock.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    cancel();
  }
}

/** The result of `work`, or undefined when `signal` aborts first; the work then continues. Leaves no listener behind. */
export async function waitUnlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  let stopListening = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    const onAbort = () => resolve(undefined);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    stopListening = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stopListening();
  }
}

/** Resolves after `ms` milliseconds. Leaves nothing behind. @throws the reason of `signal` when it aborts first */
export function pause(clock: Pick<Clock, "after">, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** The limits of `withDeadline`. `createError` makes the error that is thrown after `ms` milliseconds. */
export interface Deadline {
  clock: Pick<Clock, "after">;
  ms: number;
  createError: () => Error;
  /** Ends the wait early, with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * The result of `work`, which gets a signal that aborts when the wait ends early. Leaves no timer behind.
 * @throws what `work` throws; `createError()` after the time; the reason of `signal` when it aborts first
 */
export async function withDeadline<T>(
  { clock, ms, createError, signal }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const onOuter = () => abort.abort(signal?.reason);
  if (signal?.aborted === true) onOuter();
  signal?.addEventListener("abort", onOuter);
  const cancel = clock.after(ms, () => abort.abort(createError()));
  const aborted = new Promise<never>((_, reject) => {
    const fail = () => reject(abort.signal.reason);
    if (abort.signal.aborted) fail();
    abort.signal.addEventListener("abort", fail, { once: true });
  });
  try {
    return await Promise.race([work(abort.signal), aborted]);
  } finally {
    signal?.removeEventListener("abort", onOuter);
    cancel();
  }
}
