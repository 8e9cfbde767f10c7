import { FORGOTTEN_PROCESS_BYTES, RECLAIM_BYTES, RECLAIM_DELAY_MS, RECLAIM_PAUSE_MS } from "./limits.js";

/**
 * Frees the memory of disposed processes. V8 collects garbage when it allocates: an idle host would keep the output of its last
 * hour indefinitely.
 */
export interface Reclaim {
  /** Counts a disposed process that held this many bytes of output. */
  count(bytes: number): void;
  close(): void;
}

export interface ReclaimOptions {
  /** Collects the garbage of this process. */
  collect(): void;
  /** Returns freed memory to the system. Called some time after `collect`. */
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
      // Other threads free the collected memory some time later.
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
    count(bytes) {
      forgotten += bytes + FORGOTTEN_PROCESS_BYTES;
      start();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
