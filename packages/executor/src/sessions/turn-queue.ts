/** Runs calls on one session one at a time, in the order of `take`. */
export class TurnQueue {
  #last: Promise<void> = Promise.resolve();

  /**
   * Joins the queue synchronously. When its turn comes, resolves with the function that ends the turn; with undefined when
   * `signal` aborts before, which leaves the queue.
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
