import { MAX_MESSAGE_BYTES } from "../limits.js";

/** Cuts bytes into lines, which end with LF. Keeps at most one unfinished line. */
export class Lines {
  readonly #maxBytes: number;
  /** The unfinished line; its capacity doubles. */
  #kept = Buffer.alloc(0);
  #bytes = 0;

  /** @param maxBytes of one line */
  constructor(maxBytes = MAX_MESSAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that these bytes complete, without their ends. @throws RangeError for a line over the limit */
  *take(bytes: Uint8Array): Generator<string> {
    let from = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, from)) {
      this.#keep(bytes.subarray(from, end));
      from = end + 1;
      const line = this.#kept.toString("utf8", 0, this.#bytes);
      this.#bytes = 0;
      yield line.endsWith("\r") ? line.slice(0, -1) : line;
    }
    this.#keep(bytes.subarray(from));
  }

  #keep(piece: Uint8Array): void {
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#maxBytes) {
      throw new RangeError(`a message has more than ${this.#maxBytes} bytes, the limit for one message`);
    }
    if (bytes > this.#kept.length) {
      const grown = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#kept.length));
      this.#kept.copy(grown, 0, 0, this.#bytes);
      this.#kept = grown;
    }
    this.#kept.set(piece, this.#bytes);
    this.#bytes = bytes;
  }
}

const LF = 0x0a;
