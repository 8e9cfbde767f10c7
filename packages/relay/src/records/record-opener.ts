import { MAX_RECORD_BYTES } from "../limits.js";
import { open, TAG_BYTES } from "../noise/aead.js";
import { RecordOrder } from "./record-order.js";
import { StreamViolation } from "./violation.js";

/** The receiving half of a Noise stream: takes encrypted records in any order, returns bytes in order. */
export class RecordOpener {
  readonly #key: Buffer;
  readonly order = new RecordOrder();

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Returns the bytes that are now in order. @throws StreamViolation for a record that the peer did not seal, or that exceeds a limit */
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
