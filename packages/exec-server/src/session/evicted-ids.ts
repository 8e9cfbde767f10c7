import { createHash } from "node:crypto";
import { MAX_EVICTED_IDS } from "../limits.js";

/**
 * Ids of processes that were evicted early. Each is remembered for `ms` to 2 × `ms` milliseconds, as a digest of some
 * 60 bytes in memory.
 */
export class EvictedIds {
  readonly #ms: number;
  #recent = new Set<string>();
  #earlier = new Set<string>();
  /** Runs while there are ids. */
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Whether MAX_EVICTED_IDS are remembered. */
  get isFull(): boolean {
    return this.#recent.size + this.#earlier.size >= MAX_EVICTED_IDS;
  }

  add(id: string): void {
    this.#recent.add(digest(id));
    this.#timer ??= setInterval(() => this.#rotate(), this.#ms).unref();
  }

  has(id: string): boolean {
    if (this.#recent.size + this.#earlier.size === 0) return false;
    const wanted = digest(id);
    return this.#recent.has(wanted) || this.#earlier.has(wanted);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #rotate(): void {
    this.#earlier = this.#recent;
    this.#recent = new Set();
    if (this.#earlier.size === 0) this.close();
  }
}

/** 96 bits: the odds that two of a million ids collide are 1 in 10^17. */
const digest = (id: string): string => createHash("sha256").update(id).digest("base64").slice(0, 16);
