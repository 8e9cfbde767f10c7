import {
  FLOOD_BYTES_PER_SECOND,
  FLOOD_PART_BYTES,
  MIN_PACED_BYTES_PER_SECOND,
  PACED_BURST_BYTES,
  PACED_BYTES_PER_SECOND,
  PACED_PIECE_BYTES,
} from "../limits.js";
import type { PartPace } from "../wire/port.js";

const LIMITS = {
  busy: { bytesPerSecond: PACED_BYTES_PER_SECOND, burst: PACED_BURST_BYTES, piece: PACED_PIECE_BYTES },
  flood: { bytesPerSecond: FLOOD_BYTES_PER_SECOND, burst: FLOOD_PART_BYTES, piece: FLOOD_PART_BYTES },
};

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
  spend(bytes: number, pace: Exclude<PartPace, "none">): number {
    const { bytesPerSecond, burst, piece } = LIMITS[pace];
    const perMs = Math.max(MIN_PACED_BYTES_PER_SECOND, bytesPerSecond / this.#pages()) / 1000;
    const now = this.#now();
    const earned = (now - this.#updatedAt) * perMs;
    this.#updatedAt = now;
    this.#allowance = Math.min(burst, this.#allowance + earned) - bytes;
    if (this.#allowance > 0) return 0;
    // Few large pieces cost a page less than many small ones.
    return (piece - this.#allowance) / perMs;
  }
}
