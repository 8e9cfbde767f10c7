import { MAX_HELD_RECORD_BYTES, MAX_RECORDS_AHEAD } from "../limits.js";
import { StreamViolation } from "./violation.js";

/** Puts records in the order of their numbers. What comes twice is dropped, what comes early is kept, within bounds. */
export class RecordOrder {
  readonly #held = new Map<number, Uint8Array>();
  #heldBytes = 0;
  #next = 0;

  /** Number of the record that comes next. */
  get next(): number {
    return this.#next;
  }

  /** Records are kept that wait for one which has not come. */
  get hasGap(): boolean {
    return this.#held.size > 0;
  }

  /** Numbers of the records that are kept, relative to `next`. */
  get held(): number[] {
    return [...this.#held.keys()].map((seq) => seq - this.#next);
  }

  /** The records whose turn it is now. @throws StreamViolation for one too far ahead, or more than is kept */
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
      throw new StreamViolation(`records that came early have more than ${MAX_HELD_RECORD_BYTES} bytes`);
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
