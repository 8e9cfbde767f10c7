/** A semaphore counted in bytes, FIFO. A request for more than the capacity is granted when nothing else is in use. */
export class ByteBudget {
  readonly #capacity: number;
  #used = 0;
  readonly #waiting = new Set<{ bytes: number; enter: () => void }>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Resolves with a function that returns the bytes, or with undefined if there was no room within `waitMs`. */
  async take(bytes: number, waitMs?: number): Promise<(() => void) | undefined> {
    if (this.#waiting.size > 0 || !this.#fits(bytes)) {
      const hasRoom = await this.#wait(bytes, waitMs);
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

  #wait(bytes: number, waitMs: number | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const entry = {
        bytes,
        enter: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      this.#waiting.add(entry);
      const giveUp = () => {
        this.#waiting.delete(entry);
        resolve(false);
        this.#admit();
      };
      const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
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
