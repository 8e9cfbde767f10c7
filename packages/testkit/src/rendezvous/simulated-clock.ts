import type { Clock } from "@codex/clock";

interface Timer {
  at: number;
  /** Order of creation, for timers of the same moment. */
  order: number;
  run: (() => void) | undefined;
}

/** Time that passes as fast as its timers run, for hundreds of thousands of them. Milliseconds are whole numbers. */
export class SimulatedClock implements Clock {
  readonly #heap: Timer[] = [];
  #now = 0;
  #created = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(1, Math.ceil(ms)), order: this.#created++, run };
    this.#push(timer);
    return () => {
      timer.run = undefined;
    };
  }

  /** Runs all timers up to a moment; promises settle after each millisecond. */
  async runUntil(end: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#now = next.at;
      while (this.#heap[0]?.at === this.#now) this.#pop().run?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = end;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent]!, timer)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = timer;
  }

  #pop(): Timer {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (isBefore(last, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
