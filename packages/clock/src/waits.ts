import type { Clock } from "./clock.js";

/** The result of `work`, or undefined after `ms` milliseconds; the work goes on then. Leaves no timer behind. */
export async function waitAtMost<T>(clock: Pick<Clock, "after">, ms: number, work: Promise<T>): Promise<T | undefined> {
  let cancel = () => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

/** The result of `work`, or undefined when `signal` aborts first; the work goes on then. Leaves no listener behind. */
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
