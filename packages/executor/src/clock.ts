/** Time as a collaborator. */
export interface Clock {
  /** Milliseconds on the clock of `ExecProcess.startedAt`, which never goes back. */
  now(): number;
  /** Calls `run` once after `ms` milliseconds, never within this call. The answer cancels it. */
  after(ms: number, run: () => void): () => void;
}

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

/** Node's timers take no more, milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
