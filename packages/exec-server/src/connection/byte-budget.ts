/** How long `take` waits; without either, as long as it takes. */
export interface TakeOptions {
  /** Milliseconds. */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A semaphore counted in bytes, FIFO. A request for more than the capacity is granted when nothing else is in use. */
export class ByteBudget {
  readonly #capacity: number;
  #used = 0;
  readonly #waiting = new Set<{ bytes: number; enter: () => void }>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Resolves with a function that returns the bytes, or with undefined if there was no room within `waitMs` or until `signal` aborted. */
  async take(bytes: number, options: TakeOptions = {}): Promise<(() => void) | undefined> {
    if (options.signal?.aborted) return undefined;
    if (this.#waiting.size > 0 || !this.#fits(bytes)) {
      const hasRoom = await this.#wait(bytes, options);
      if (!hasRoom) return undefined;
    } else {
      this.#used += bytes;
    }
    let isTaken = true;
    return () => {
      if (isTaken) this.#used -= bytes;
      isTaken = false;
      this.#admit();
    };
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#capacity;
  }

  #wait(bytes: number, { waitMs, signal }: TakeOptions): Promise<boolean> {
    return new Promise((resolve) => {
      const entry = {
        bytes,
        enter: () => {
          stop();
          resolve(true);
        },
      };
      this.#waiting.add(entry);
      const giveUp = () => {
        stop();
        this.#waiting.delete(entry);
        resolve(false);
        this.#admit();
      };
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      const stop = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
      };
    });
  }

  #admit(): void {
    for (const entry of this.#waiting) {
      if (!this.#fits(entry.bytes)) return;
      this.#waiting.delete(entry);
      this.#used += entry.bytes;
      entry.enter();
    }
  }
}
