import { SOURCES_PER_TURN } from "../limits.js";

/**
 * Shares the turns of the event loop among sources that have more than one read gives. At most `SOURCES_PER_TURN` read on in
 * a turn; the others wait unread, and so do their programs: requests are answered however many programs write without end.
 */
export class ReadTurns {
  readonly #waiting = new Set<() => void>();
  /** Those admitted in this turn. */
  readonly #entered = new Set<() => void>();
  #scheduled = false;

  /** Whether the source may read on in this turn; if not, `go` is called in a later one, in the order of the calls. */
  enter(go: () => void): boolean {
    if (this.#entered.has(go)) return true;
    if (this.#entered.size < SOURCES_PER_TURN && this.#waiting.size === 0) {
      this.#schedule();
      this.#entered.add(go);
      return true;
    }
    this.wait(go);
    return false;
  }

  /** Calls `go` in a later turn, in the order of the calls. */
  wait(go: () => void): void {
    this.#schedule();
    this.#waiting.add(go);
  }

  /** `go` is not called any more. */
  leave(go: () => void): void {
    this.#waiting.delete(go);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#scheduled = false;
    this.#entered.clear();
    for (const go of this.#waiting) {
      if (this.#entered.size === SOURCES_PER_TURN) break;
      this.#waiting.delete(go);
      this.#entered.add(go);
      go();
    }
    if (this.#waiting.size > 0) this.#schedule();
  };
}
