import { MAX_MESSAGE_BYTES } from "../limits.js";

/** Splits bytes into lines, which end with LF. Buffers at most one incomplete line. */
export class Lines {
  readonly #maxBytes: number;
  /** The incomplete line; its capacity doubles. */
  #buffer = Buffer.alloc(0);
  #bytes = 0;

  /** @param maxBytes limit for one line */
  constructor(maxBytes = MAX_MESSAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The lines completed by these bytes, without line ends. @throws RangeError for a line over the limit */
  *take(bytes: Uint8Array): Generator<string> {
    let from = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, from)) {
      this.#append(bytes.subarray(from, end));
      from = end + 1;
      const line = this.#buffer.toString("utf8", 0, this.#bytes);
      this.#bytes = 0;
      yield line.endsWith("\r") ? line.slice(0, -1) : line;
    }
    this.#append(bytes.subarray(from));
  }

  #append(piece: Uint8Array): void {
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#maxBytes) {
      throw new RangeError(`a message has more than ${this.#maxBytes} bytes, the limit for one message`);
    }
    if (bytes > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#buffer.length));
      this.#buffer.copy(grown, 0, 0, this.#bytes);
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#bytes);
    this.#bytes = bytes;
  }
}

const LF = 0x0a;
