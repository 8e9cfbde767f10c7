/** Lets calls run side by side, except exclusive ones: each waits for those before it, and holds back those after it. */
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
