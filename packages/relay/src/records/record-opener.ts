import { MAX_RECORD_BYTES } from "../limits.js";
import { open, TAG_BYTES } from "../noise/aead.js";
import { RecordOrder } from "./record-order.js";
import { StreamViolation } from "./violation.js";

/** The receiving half of a Noise stream: sealed records in any order, bytes in theirs. */
export class RecordOpener {
  readonly #key: Buffer;
  readonly order = new RecordOrder();

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The bytes whose turn it is now. @throws StreamViolation for what the peer did not seal, or no bounds allow */
  *accept(seq: number, record: Uint8Array): Generator<Buffer> {
    if (record.length > MAX_RECORD_BYTES + TAG_BYTES) {
      throw new StreamViolation(`a record has ${record.length} bytes, more than ${MAX_RECORD_BYTES + TAG_BYTES}`);
    }
    for (const next of this.order.accept(seq, record)) yield this.#open(next.seq, next.record);
  }

  #open(seq: number, record: Uint8Array): Buffer {
    try {
      return open(this.#key, seq, record);
    } catch (cause) {
      throw new StreamViolation(`record ${seq} was not sealed by the peer`, { cause });
    }
  }
}
