import type { Writable } from "node:stream";

/** Most bytes that are joined into one write. */
const MAX_HELD_BYTES = 256 * 1024;

/** Joins what is written to a stream within one turn of the event loop into one system call, within bounds. */
export class TurnCork {
  readonly #stream: Writable;
  /** Held bytes; undefined while the stream is not corked. */
  #held: number | undefined;
  /** Writes of the turn, and whether the one before had several. */
  #writes = 0;
  #isBusy = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Call before a single write of this number of bytes. The first one of a turn is not held: a key press has nothing to wait for. */
  holdLater(bytes: number): void {
    if (this.#writes > 0) this.hold(bytes);
    else this.#begin();
  }

  /** The same, but the first one is held as well if the previous turn had several. */
  holdNext(bytes: number): void {
    if (this.#isBusy) this.hold(bytes);
    else this.holdLater(bytes);
  }

  /** Call before writing this number of bytes. */
  hold(bytes: number): void {
    this.#begin();
    if (this.#held === undefined) {
      this.#held = 0;
      this.#stream.cork();
    } else if (this.#held >= MAX_HELD_BYTES) {
      // Flush the held bytes; later ones are held until the end of the same turn.
      this.#held = 0;
      this.#stream.uncork();
      this.#stream.cork();
    }
    this.#held += bytes;
  }

  #begin(): void {
    if (this.#writes === 0) setImmediate(this.#release);
    this.#writes += 1;
  }

  readonly #release = (): void => {
    this.#isBusy = this.#writes > 1;
    this.#writes = 0;
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#stream.uncork();
  };
}
