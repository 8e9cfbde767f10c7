/**
 * A signal that aborts after a time, or when another one does. `AbortSignal.any` of `AbortSignal.timeout` is not used:
 * Node 20 may collect them as garbage, and they never abort.
 * @param {number} ms
 * @param {AbortSignal} [stop]
 * @returns {{ signal: AbortSignal, clear(): void }} `clear` must be called: the timer keeps the program alive
 */
export function createDeadline(ms, stop) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, ms);
  stop?.addEventListener("abort", abort);
  if (stop?.aborted) abort();
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      stop?.removeEventListener("abort", abort);
    },
  };
}
