import { setTimeout } from "node:timers/promises";

/** Resolves when the promise does, or after the time. Leaves no timer behind, which would keep this process alive. */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  const abort = new AbortController();
  const late = setTimeout(ms, undefined, { signal: abort.signal }).catch(() => {});
  await Promise.race([promise, late]);
  abort.abort();
}
