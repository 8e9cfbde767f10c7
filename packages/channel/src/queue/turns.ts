import { Fifo } from "./fifo.js";

/** Milliseconds of work on what one channel has received, before everything else gets its turn. */
export const TURN_MS = 2;

/**
 * Turns of the event loop for channels whose messages keep their receivers busy: one of them continues in each turn, in the
 * order in which they asked. Between two of them all other work gets its turn.
 */
export class Turns {
  readonly #waiting = new Fifo<() => void>();
  #scheduled = false;

  /** Calls `go` in a later turn. */
  wait(go: () => void): void {
    this.#waiting.push(go);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const go = this.#waiting.shift();
    this.#scheduled = this.#waiting.length > 0;
    if (this.#scheduled) setImmediate(this.#next);
    go?.();
  };
}
