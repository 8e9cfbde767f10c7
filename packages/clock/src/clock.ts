/** Time as a dependency; tests pass one of their own. */
export interface Clock {
  /** Milliseconds on a clock that never goes back, that of `performance.now`. */
  now(): number;
  /** Calls `run` once after `ms` milliseconds, never within this call. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** The clock of this process. A wait may be longer than Node's timers take. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    let timer: NodeJS.Timeout;
    const arm = (left: number) => {
      const part = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (part < left ? arm(left - part) : run()), part);
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};

/** The longest delay of a Node timer, milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
