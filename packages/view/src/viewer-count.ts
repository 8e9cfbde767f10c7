/** How many pages are connected. */
export class ViewerCount {
  readonly #waiting = new Set<() => void>();
  #count = 0;
  #wereThere = false;

  get count(): number {
    return this.#count;
  }

  set(count: number): void {
    this.#count = count;
    if (count > 0) this.#wereThere = true;
    if (count === 0) for (const done of [...this.#waiting]) done();
  }

  /** Resolves when no page is connected, or the signal aborts. `afterFirst`: waits for the first page before. */
  untilNone(signal: AbortSignal, { afterFirst = false }: { afterFirst?: boolean } = {}): Promise<void> {
    if ((this.#count === 0 && !(afterFirst && !this.#wereThere)) || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}
