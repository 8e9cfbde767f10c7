/** Runs a bounded number of calls concurrently; the others wait in FIFO order. */
export class ConcurrencyLimit {
  readonly #max: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** @throws what `work` throws, or the reason of a signal that ends the wait for its turn */
  async run<T>(work: () => Promise<T>, signals: readonly AbortSignal[] = []): Promise<T> {
    if (this.#running >= this.#max) await this.#wait(signals);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // The slot passes to the next caller directly.
      const [next] = this.#waiting;
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #wait(signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(begin);
        for (const signal of signals) signal.removeEventListener("abort", onAbort);
      };
      const begin = () => {
        stop();
        resolve();
      };
      const onAbort = () => {
        stop();
        reject(signals.find(({ aborted }) => aborted)?.reason);
      };
      this.#waiting.add(begin);
      for (const signal of signals) signal.addEventListener("abort", onAbort);
      if (signals.some(({ aborted }) => aborted)) onAbort();
    });
  }
}
