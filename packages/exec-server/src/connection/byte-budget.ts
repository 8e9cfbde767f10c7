/** Bytes that may be in use at once, in the order of the calls. What is more than all of them is let in alone. */
export class ByteBudget {
  readonly #most: number;
  #used = 0;
  readonly #waiting = new Set<{ bytes: number; enter: () => void }>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves once there is room, with a function that gives it back; with undefined when there was none in time. */
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
    return this.#used === 0 || this.#used + bytes <= this.#most;
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
