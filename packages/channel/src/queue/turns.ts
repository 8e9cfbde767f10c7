import { Fifo } from "./fifo.js";

/** Milliseconds of work on received values of one channel before other work gets a turn of the event loop. */
export const TURN_MS = 2;

/**
 * Schedules channels whose messages keep their receivers busy: in each turn of the event loop one of them continues, in the
 * order of their calls, so that other work runs in between.
 */
export class Turns {
  readonly #waiting = new Fifo<() => void>();
  #scheduled = false;

  /** Calls `resume` in a later turn. */
  wait(resume: () => void): void {
    this.#waiting.push(resume);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const resume = this.#waiting.shift();
    this.#scheduled = this.#waiting.length > 0;
    if (this.#scheduled) setImmediate(this.#next);
    resume?.();
  };
}
