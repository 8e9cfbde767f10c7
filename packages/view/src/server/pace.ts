import { MIN_PACED_BYTES_PER_SECOND, PACED_BURST_BYTES, PACED_BYTES_PER_SECOND, PACED_PIECE_BYTES } from "../limits.js";

/** Paces output of programs that write faster than a page has to be sent it, so that showing it does not slow them down. */
export class Pace {
  readonly #pages: () => number;
  readonly #now: () => number;
  #allowance = PACED_BURST_BYTES;
  #updatedAt: number;

  /** @param pages that are connected and share the rate */
  constructor(pages: () => number, now: () => number) {
    this.#pages = pages;
    this.#now = now;
    this.#updatedAt = now();
  }

  /** Bytes were sent of a program that goes on writing. Returns how long to wait before the next ones, milliseconds. */
  spend(bytes: number): number {
    const perMs = Math.max(MIN_PACED_BYTES_PER_SECOND, PACED_BYTES_PER_SECOND / this.#pages()) / 1000;
    const now = this.#now();
    const earned = (now - this.#updatedAt) * perMs;
    this.#updatedAt = now;
    this.#allowance = Math.min(PACED_BURST_BYTES, this.#allowance + earned) - bytes;
    if (this.#allowance > 0) return 0;
    // Few large pieces cost a page less than many small ones.
    return (PACED_PIECE_BYTES - this.#allowance) / perMs;
  }
}
