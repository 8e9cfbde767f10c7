/** Pauses between attempts, which grow with each failure in a row. */
export interface BackoffOptions {
  /** Longest pause after the first failure, milliseconds; doubles with each. */
  firstMs: number;
  longestMs: number;
  /** Returns 0 to 1. */
  random: () => number;
}

/** Pauses that grow with each failure in a row, each random between a half and the whole of its length. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Milliseconds to wait after one more failure; not less than `atLeastMs`. */
  next(atLeastMs = 0): number {
    const { firstMs, longestMs, random } = this.#options;
    const longest = Math.min(firstMs * 2 ** this.#failures, longestMs);
    this.#failures = Math.min(this.#failures + 1, 32);
    const pauseMs = longest * (0.5 + random() / 2);
    // Those who were told the same time do not all come at it.
    return atLeastMs > pauseMs ? atLeastMs + random() * firstMs : pauseMs;
  }

  /** It has succeeded. */
  reset(): void {
    this.#failures = 0;
  }
}
