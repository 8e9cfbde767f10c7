/** Runs calls concurrently, except exclusive ones, which run after all earlier and before all later calls. */
export class CallOrder {
  #running: Promise<unknown>[] = [];
  #barrier: Promise<unknown> = Promise.resolve();

  start<T>(exclusive: boolean, run: () => Promise<T>): Promise<T> {
    if (!exclusive) {
      const result = this.#barrier.then(run);
      this.#running.push(result.catch(() => {}));
      return result;
    }
    const before = Promise.all([this.#barrier, ...this.#running]);
    const result = before.then(run);
    this.#barrier = result.catch(() => {});
    this.#running = [];
    return result;
  }
}
