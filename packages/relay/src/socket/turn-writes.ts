import type { Writable } from "node:stream";

/** Most bytes that are joined into one write. */
const MAX_HELD_BYTES = 256 * 1024;

/**
 * The first message of a turn of the event loop is written immediately, as a single key press has nothing to wait for; later ones of that
 * turn are joined into one system call, within bounds.
 */
export class TurnWrites {
  readonly #stream: Writable;
  #hasWritten = false;
  /** Held bytes; undefined while the stream is not corked. */
  #held: number | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Call before writing a message of this number of bytes. */
  begin(bytes: number): void {
    if (!this.#hasWritten) {
      this.#hasWritten = true;
      setImmediate(() => this.#endTurn());
      return;
    }
    if (this.#held === undefined) {
      this.#held = 0;
      this.#stream.cork();
    } else if (this.#held >= MAX_HELD_BYTES) {
      this.#held = 0;
      this.#stream.uncork();
      this.#stream.cork();
    }
    this.#held += bytes;
  }

  #endTurn(): void {
    this.#hasWritten = false;
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#stream.uncork();
  }
}
