/** Time as a collaborator: only what has to happen later. */
export interface Clock {
  /** Calls `run` once after `ms` milliseconds, never within this call. The answer cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Node's timers take no more, milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
