import { createHash } from "node:crypto";
import { MAX_FORGOTTEN_IDS } from "../limits.js";

/**
 * Ids of processes that were forgotten early: each is remembered for `ms` milliseconds at least and twice as long at most,
 * as a digest of some 60 bytes.
 */
export class ForgottenIds {
  readonly #ms: number;
  #recent = new Set<string>();
  #earlier = new Set<string>();
  /** Runs while there are any. */
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** One more could not be remembered. */
  get isFull(): boolean {
    return this.#recent.size + this.#earlier.size >= MAX_FORGOTTEN_IDS;
  }

  add(id: string): void {
    this.#recent.add(digest(id));
    this.#timer ??= setInterval(() => this.#age(), this.#ms).unref();
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

  #age(): void {
    this.#earlier = this.#recent;
    this.#recent = new Set();
    if (this.#earlier.size === 0) this.close();
  }
}

/** 96 bits: two of a million ids are alike once in 10^17 times. */
const digest = (id: string): string => createHash("sha256").update(id).digest("base64").slice(0, 16);
