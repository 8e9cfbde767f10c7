/**
 * One process starts others on several threads, and what a child inherits belongs to the whole process: the mark. So only one
 * thread at a time starts a child, until the child has what it is to inherit.
 */
export interface SpawnLock {
  readonly shared: SharedArrayBuffer;
  acquire(): void;
  /** Called by the holder, or by another thread for it. Idempotent, also where the lock has another holder since. */
  release(): void;
}

const FREE = 0;
const MAIN = 1;

/** Milliseconds after which a holder is thought to have failed. */
const MAX_HELD_MS = 1_000;

/** @param holder a number other than 0 for each thread that starts children */
export function openSpawnLock(shared: SharedArrayBuffer, holder: number): SpawnLock {
  const state = new Int32Array(shared, 0, 1);
  return {
    shared,
    acquire() {
      for (;;) {
        const held = Atomics.compareExchange(state, 0, FREE, holder);
        if (held === FREE) return;
        if (Atomics.wait(state, 0, held, MAX_HELD_MS) === "timed-out") {
          Atomics.store(state, 0, holder);
          return;
        }
      }
    },
    release() {
      if (Atomics.compareExchange(state, 0, holder, FREE) === holder) Atomics.notify(state, 0, 1);
    },
  };
}

/** Of this thread; threads that start children for it get its memory. */
export const spawnLock = openSpawnLock(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), MAIN);
