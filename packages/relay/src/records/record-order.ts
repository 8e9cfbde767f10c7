import { MAX_HELD_RECORD_BYTES, MAX_RECORDS_AHEAD } from "../limits.js";
import { StreamViolation } from "./violation.js";

/** Sorts records by number. Drops duplicates, and buffers early ones within limits. */
export class RecordOrder {
  readonly #held = new Map<number, Uint8Array>();
  #heldBytes = 0;
  #next = 0;

  /** Number of the next record. */
  get next(): number {
    return this.#next;
  }

  /** Whether buffered records wait for a missing one. */
  get hasGap(): boolean {
    return this.#held.size > 0;
  }

  /** Numbers of the buffered records, relative to `next`. */
  get held(): number[] {
    return [...this.#held.keys()].map((seq) => seq - this.#next);
  }

  /** Returns the records that are now in order. @throws StreamViolation for one too far ahead, or if the buffer is full */
  *accept(seq: number, record: Uint8Array): Generator<{ seq: number; record: Uint8Array }> {
    if (seq < this.#next || this.#held.has(seq)) return;
    if (seq > this.#next) {
      this.#hold(seq, record);
      return;
    }
    for (let each: Uint8Array | undefined = record; each !== undefined; each = this.#release(this.#next)) {
      yield { seq: this.#next++, record: each };
    }
  }

  #hold(seq: number, record: Uint8Array): void {
    const ahead = seq - this.#next;
    if (ahead > MAX_RECORDS_AHEAD) {
      throw new StreamViolation(`record ${seq} is ${ahead} ahead of the next, more than ${MAX_RECORDS_AHEAD}`);
    }
    if (this.#heldBytes + record.length > MAX_HELD_RECORD_BYTES) {
      throw new StreamViolation(`records that arrived early have more than ${MAX_HELD_RECORD_BYTES} bytes`);
    }
    this.#heldBytes += record.length;
    this.#held.set(seq, record);
  }

  #release(seq: number): Uint8Array | undefined {
    const record = this.#held.get(seq);
    if (record === undefined) return undefined;
    this.#held.delete(seq);
    this.#heldBytes -= record.length;
    return record;
  }
}
