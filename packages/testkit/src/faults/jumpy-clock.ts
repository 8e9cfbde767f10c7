import type { Clock } from "@codex/clock";

/** The clock of a machine that is suspended at times: time jumps, and timers that are due by then run immediately. */
export interface JumpyClock extends Clock {
  jump(ms: number): void;
}

interface Timer {
  at: number;
  timeout: NodeJS.Timeout;
  run(): void;
}

export function createJumpyClock(): JumpyClock {
  const timers = new Set<Timer>();
  let ahead = 0;
  const now = () => performance.now() + ahead;
  const cancel = (timer: Timer) => {
    clearTimeout(timer.timeout);
    timers.delete(timer);
  };
  const fire = (timer: Timer) => {
    cancel(timer);
    timer.run();
  };
  return {
    now,
    after(ms, run) {
      const timer: Timer = { at: now() + ms, timeout: setTimeout(() => fire(timer), ms), run };
      timers.add(timer);
      return () => cancel(timer);
    },
    jump(ms) {
      ahead += ms;
      for (const timer of [...timers]) if (timer.at <= now()) fire(timer);
    },
  };
}
