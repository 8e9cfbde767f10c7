/** Timers, handed in so that tests control time. */
export interface Clock {
  /** Calls `run` once after `ms` milliseconds, never synchronously. Returns a function that cancels the timer. */
  after(ms: number, run: () => void): () => void;
}

/** The timers of Node. */
export const systemClock: Clock = {
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Node's timers take no more, milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
