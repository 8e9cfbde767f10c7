/** Options of `Backoff`. */
export interface BackoffOptions {
  /** Longest pause after the first failure, milliseconds; doubles with each further one. */
  firstMs: number;
  longestMs: number;
  /** Random number from 0 to 1. */
  random: () => number;
}

/** Exponential backoff with jitter: each pause is random between half and all of its length. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Records a failure. Returns the milliseconds to wait, at least `atLeastMs`. */
  next(atLeastMs = 0): number {
    const { firstMs, longestMs, random } = this.#options;
    const longest = Math.min(firstMs * 2 ** this.#failures, longestMs);
    this.#failures = Math.min(this.#failures + 1, 32);
    const pauseMs = longest * (0.5 + random() / 2);
    // Clients that got the same `Retry-After` must not all return simultaneously.
    return atLeastMs > pauseMs ? atLeastMs + random() * firstMs : pauseMs;
  }

  /** Records a success. */
  reset(): void {
    this.#failures = 0;
  }
}
