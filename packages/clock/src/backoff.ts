/** Options of `Backoff`. */
export interface BackoffOptions {
  /** Longest pause after the first failure, milliseconds; doubles with each further one. */
  firstMs: number;
  longestMs: number;
  /** The shortest pause as a share of the longest one, 0 to 1. Default 0.5. */
  leastShare?: number;
  /** Random number from 0 to 1. */
  random: () => number;
}

/** Exponential backoff with jitter: each pause is random between a share and all of its length. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Records a failure. Returns the milliseconds to wait, at least `atLeastMs`. */
  next(atLeastMs = 0): number {
    const { firstMs, longestMs, leastShare = 0.5, random } = this.#options;
    const longest = doubled(firstMs, this.#failures, longestMs);
    this.#failures += 1;
    const pauseMs = longest * (leastShare + random() * (1 - leastShare));
    // Clients that were told the same time must not all return simultaneously.
    return atLeastMs > pauseMs ? atLeastMs + random() * firstMs : pauseMs;
  }

  /** Records a success. */
  reset(): void {
    this.#failures = 0;
  }
}

/** `ms` doubled `times` times, at most `longestMs`. */
export const doubled = (ms: number, times: number, longestMs: number): number =>
  Math.min(ms * 2 ** Math.min(times, 64), longestMs);
