import { setTimeout } from "node:timers/promises";

/** Whether the promise resolves within the time. Leaves no timer behind. Rejects as the promise does within the time. */
export async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  const abort = new AbortController();
  const late = setTimeout(ms, false, { signal: abort.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    abort.abort();
  }
}
