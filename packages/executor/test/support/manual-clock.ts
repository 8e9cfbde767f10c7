import type { Clock } from "@codex/clock";

/** Time that goes on only when told to. */
export class ManualClock implements Clock {
  #now = 0;
  /** Number of timers that were ever started. */
  started = 0;
  readonly #timers = new Set<{ at: number; run: () => void }>();
  readonly #watchers = new Set<() => void>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    this.started += 1;
    for (const watcher of this.#watchers) watcher();
    return () => this.#timers.delete(timer);
  }

  /** Timers that wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Resolves once this many timers wait: each waiting call has one. */
  async untilWaiting(count = 1): Promise<void> {
    while (this.#timers.size < count) {
      await new Promise<void>((resolve) => {
        const watcher = () => {
          this.#watchers.delete(watcher);
          resolve();
        };
        this.#watchers.add(watcher);
      });
    }
  }

  /** Runs what is due on the way, earliest first. */
  advance(ms: number): void {
    const target = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= target).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
    }
    this.#now = target;
  }
}

/** Lets everything happen that is due. In a scripted world that takes one turn: nothing there waits for the outside. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
