/** Lets calls on one session go one at a time, in the order in which they asked. */
export class TurnQueue {
  #last: Promise<void> = Promise.resolve();

  /**
   * Takes a place in the queue within this call. Resolves when its turn has come with the function that ends it, or
   * with undefined when `signal` aborts before; the place is given up then.
   */
  take(signal?: AbortSignal): Promise<(() => void) | undefined> {
    const before = this.#last;
    let end!: () => void;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last = before.then(() => ended);
    return new Promise((resolve) => {
      const giveUp = () => {
        end();
        resolve(undefined);
      };
      if (signal?.aborted) return giveUp();
      signal?.addEventListener("abort", giveUp, { once: true });
      void before.then(() => {
        signal?.removeEventListener("abort", giveUp);
        resolve(end);
      });
    });
  }
}
