import type { Clock } from "../clock.js";

interface Timer {
  at: number;
  run: () => void;
}

/** Time that stands still until `advance`. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();
  readonly #watchers: (() => void)[] = [];

  /** Timers that have not run and were not cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    for (const wake of this.#watchers.splice(0)) wake();
    return () => void this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.run();
    }
  }

  /** Resolves once a timer of exactly `ms` from now is set. */
  async timer(ms: number): Promise<void> {
    while (![...this.#timers].some((timer) => timer.at === this.#now + ms)) {
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }
}
