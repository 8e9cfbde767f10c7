import { type Clock, pause } from "@codex/clock";
import { REPORTED_PAUSE_MS, type RetryLimits } from "../limits.js";
import type { ModelEvent } from "../model-port.js";
import type { RequestFailure } from "./failure.js";
import { type IdleWatch, startIdleWatch } from "./idle-watch.js";
import { backOff } from "./retry.js";

/** How a request is retried and timed out. */
export interface RetryOptions {
  readonly retry: RetryLimits;
  /** Idle timeout of each attempt, milliseconds. */
  readonly streamIdleMs: number;
  readonly clock: Clock;
  /** Returns a number in [0, 1), for retry jitter. */
  readonly random: () => number;
}

/**
 * Yields the events of one response. A request that fails before its response starts is retried, with a notice of long delays; a
 * response that breaks is not.
 * @param open sends the request: the events of its response, or why there is none
 * @throws ModelError of the last failure, or what `open` and the events throw
 */
export async function* streamWithRetries(
  open: (watch: IdleWatch) => Promise<AsyncIterable<ModelEvent> | RequestFailure>,
  signal: AbortSignal,
  { retry, streamIdleMs, clock, random }: RetryOptions,
): AsyncGenerator<ModelEvent, void, void> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const watch = startIdleWatch(clock, streamIdleMs, signal);
    let failure: RequestFailure;
    try {
      const opened = await open(watch);
      if (!("repeat" in opened)) return yield* opened;
      failure = opened;
    } finally {
      watch.end();
    }
    const { error, repeat } = failure;
    if (!repeat || attempt > retry.requestRetries) throw error;
    const delayMs = error.retryAfterMs ?? backOff(attempt, retry, random);
    if (delayMs >= REPORTED_PAUSE_MS) {
      yield { type: "notice", retry: true, message: `Asking again in ${delayMs / 1000} s (${error.message})` };
    }
    await pause(clock, delayMs, signal);
  }
}
