import type { Writable } from "node:stream";

/** Most bytes that are joined into one write. */
const MAX_HELD_BYTES = 256 * 1024;

/** Joins what is written to a stream within one turn of the event loop into one system call, within bounds. */
export class TurnCork {
  readonly #stream: Writable;
  /** Held bytes; undefined while the stream is not corked. */
  #held: number | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Call before writing this number of bytes. */
  hold(bytes: number): void {
    if (this.#held === undefined) {
      this.#held = 0;
      this.#stream.cork();
      setImmediate(() => this.#release());
    } else if (this.#held >= MAX_HELD_BYTES) {
      // Flush the held bytes; later ones are held until the end of the same turn.
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
