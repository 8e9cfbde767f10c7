import type { ClientClock } from "@codex/exec-server-client";

/** A clock whose machine sleeps now and then: time jumps, and what was due meanwhile is due now. */
export interface JumpyClock extends ClientClock {
  jump(ms: number): void;
}

interface Sleeper {
  at: number;
  timer: NodeJS.Timeout;
  wake(): void;
}

export function createJumpyClock(): JumpyClock {
  const sleepers = new Set<Sleeper>();
  let ahead = 0;
  const now = () => performance.now() + ahead;
  return {
    now,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const end = (settle: () => void) => () => {
          clearTimeout(sleeper.timer);
          sleepers.delete(sleeper);
          signal.removeEventListener("abort", abort);
          settle();
        };
        const wake = end(resolve);
        const sleeper: Sleeper = { at: now() + ms, timer: setTimeout(() => wake(), ms), wake };
        const abort = end(() => reject(signal.reason));
        sleepers.add(sleeper);
        signal.addEventListener("abort", abort);
      });
    },
    jump(ms) {
      ahead += ms;
      for (const sleeper of [...sleepers]) if (sleeper.at <= now()) sleeper.wake();
    },
  };
}
