import { SOURCES_PER_TURN } from "../limits.js";

/**
 * Shares the turns of the event loop among sources with more data than one read returns. At most `SOURCES_PER_TURN` continue
 * reading in a turn; the others wait, which blocks their programs. So requests are handled however many programs write
 * without end.
 */
export class ReadTurns {
  readonly #waiting = new Set<() => void>();
  /** Sources admitted in this turn. */
  readonly #entered = new Set<() => void>();
  #scheduled = false;

  /** Whether the source may continue in this turn; if not, `resume` is called in a later one, in the order of the calls. */
  enter(resume: () => void): boolean {
    if (this.#entered.has(resume)) return true;
    if (this.#entered.size < SOURCES_PER_TURN && this.#waiting.size === 0) {
      this.#schedule();
      this.#entered.add(resume);
      return true;
    }
    this.wait(resume);
    return false;
  }

  /** Calls `resume` in a later turn, in the order of the calls. */
  wait(resume: () => void): void {
    this.#schedule();
    this.#waiting.add(resume);
  }

  /** Cancels a waiting `resume`. */
  leave(resume: () => void): void {
    this.#waiting.delete(resume);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#scheduled = false;
    this.#entered.clear();
    const admitted: (() => void)[] = [];
    for (const resume of this.#waiting) if (admitted.push(resume) === SOURCES_PER_TURN) break;
    // One may wait again, for a later turn, or be cancelled by another.
    for (const resume of admitted) {
      if (!this.#waiting.delete(resume)) continue;
      this.#entered.add(resume);
      resume();
    }
    if (this.#waiting.size > 0) this.#schedule();
  };
}
