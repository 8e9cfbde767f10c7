import type { Writable } from "node:stream";

/** Bytes that are held together at most. */
const MAX_HELD_BYTES = 256 * 1024;

/** Joins what is written to a stream within one turn of the event loop into one system call, within bounds. */
export class TurnCork {
  readonly #stream: Writable;
  /** Bytes that are held; undefined while nothing is. */
  #held: number | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Call before so many bytes are written. */
  hold(bytes: number): void {
    if (this.#held === undefined) {
      this.#held = 0;
      this.#stream.cork();
      setImmediate(() => this.#release());
    } else if (this.#held >= MAX_HELD_BYTES) {
      // They leave now; what follows is held until the same end of the turn.
      this.#held = 0;
      this.#stream.uncork();
      this.#stream.cork();
    }
    this.#held += bytes;
  }

  #release(): void {
    this.#held = undefined;
    this.#stream.uncork();
  }
}
