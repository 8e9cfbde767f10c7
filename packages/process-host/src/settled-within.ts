import { setTimeout } from "node:timers/promises";

/** Resolves when the promise does, or after `ms` milliseconds. Leaves no timer, which would keep this process alive. */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  const abort = new AbortController();
  const timeout = setTimeout(ms, undefined, { signal: abort.signal }).catch(() => {});
  await Promise.race([promise, timeout]);
  abort.abort();
}
