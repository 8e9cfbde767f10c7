import { FORGOTTEN_PROCESS_BYTES, RECLAIM_BYTES, RECLAIM_DELAY_MS, RECLAIM_PAUSE_MS } from "./limits.js";

/**
 * Gives back the memory of processes that were forgotten. V8 collects when something is allocated: a host that has become
 * idle would hold the output of its last hour for as long as it lives.
 */
export interface Reclaim {
  /** The output of a process, of that many bytes, can be read no longer. */
  forgot(bytes: number): void;
  close(): void;
}

export interface ReclaimOptions {
  /** Collects the garbage of this process. */
  collect(): void;
  /** Gives what was collected back to the system. Called a while after `collect`. */
  trim(): void;
  delayMs?: number;
  pauseMs?: number;
}

export function createReclaim({
  collect,
  trim,
  delayMs = RECLAIM_DELAY_MS,
  pauseMs = RECLAIM_PAUSE_MS,
}: ReclaimOptions): Reclaim {
  let forgotten = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const after = (ms: number, step: () => void) => {
    timer = setTimeout(step, ms).unref();
  };
  const start = () => {
    if (timer !== undefined || closed || forgotten < RECLAIM_BYTES) return;
    after(delayMs, () => {
      forgotten = 0;
      collect();
      // What was collected is freed on other threads, in a while.
      after(delayMs, () => {
        trim();
        after(pauseMs, () => {
          timer = undefined;
          start();
        });
      });
    });
  };
  return {
    forgot(bytes) {
      forgotten += bytes + FORGOTTEN_PROCESS_BYTES;
      start();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
