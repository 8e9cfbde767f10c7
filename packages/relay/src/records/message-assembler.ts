import { MAX_MESSAGE_BYTES } from "../limits.js";
import { StreamViolation } from "./violation.js";

/** Bytes of the big-endian length prefix of each message. */
const LENGTH_BYTES = 4;

/** Splits a byte stream into messages. Allocates memory for received bytes only, not for announced lengths. */
export class MessageAssembler {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** Length of the current message; undefined until it is known. */
  #length: number | undefined;

  constructor(maxBytes = MAX_MESSAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the messages that are now complete. @throws StreamViolation for a length of 0 or over the limit */
  *push(bytes: Uint8Array): Generator<Buffer> {
    if (bytes.length > 0) this.#parts.push(bytes);
    this.#bytes += bytes.length;
    for (;;) {
      if (this.#length === undefined) {
        if (this.#bytes < LENGTH_BYTES) return;
        this.#length = this.#take(LENGTH_BYTES).readUInt32BE();
        if (this.#length === 0) throw new StreamViolation("a message is empty");
        if (this.#length > this.#maxBytes) {
          throw new StreamViolation(`a message has ${this.#length} bytes, more than ${this.#maxBytes}`);
        }
      }
      if (this.#bytes < this.#length) return;
      const message = this.#take(this.#length);
      this.#length = undefined;
      yield message;
    }
  }

  #take(length: number): Buffer {
    const joined = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const rest = joined.subarray(length);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#bytes -= length;
    return Buffer.from(joined.buffer, joined.byteOffset, length);
  }
}

/** The prefix of a message of this length. */
export function encodeLength(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES);
  bytes.writeUInt32BE(length);
  return bytes;
}
