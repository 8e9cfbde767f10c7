import { MAX_RECORD_BYTES } from "../limits.js";
import { encodeLength } from "../records/message-assembler.js";
import { StreamViolation } from "../records/violation.js";
import type { NoiseLink, RecordBytes } from "./noise-link.js";

/** A sent record, retained until it is acknowledged. */
interface SentRecord {
  seq: number;
  /** Offset of its first byte in the stream. */
  start: number;
  record: RecordBytes;
  /** Time of the last transmission, by the clock. */
  sentAt: number;
}

interface Pending {
  bytes: Buffer;
  /** Whether it is the end of a message. */
  isLast: boolean;
  onWritten?: (() => void) | undefined;
}

/** A record of up to this size, or of more parts, is copied into one buffer: sealing each part takes some microseconds. */
const MAX_JOINED_BYTES = 8 * 1024;
const MAX_PARTS = 6;

/** The send buffer of a stream: unsent bytes, and records that may have to be resent. */
export class Outbox {
  #pending: Pending[] = [];
  /** Index of the first entry that is not completely sent, and the number of its bytes that are. */
  #head = 0;
  #headAt = 0;
  #pendingBytes = 0;
  #sent: SentRecord[] = [];
  #sentBytes = 0;
  /** Offset of the first retained byte. */
  #keptFrom = 0;

  /** Number of unsent bytes. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Number of bytes sent at least once. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Number of retained records. */
  get keptCount(): number {
    return this.#sent.length;
  }

  /** The oldest retained record. */
  get oldest(): SentRecord | undefined {
    return this.#sent[0];
  }

  /** Adds a message, with its length in front. Without `onWritten` its bytes are retained until they are acknowledged. */
  push(message: Buffer, onWritten?: () => void): void {
    const length = encodeLength(message.length);
    // The owner of the bytes may reuse them once they are written.
    const bytes = onWritten === undefined ? message : Buffer.from(message);
    this.#pending.push({ bytes: length, isLast: false }, { bytes, isLast: true, onWritten });
    this.#pendingBytes += length.length + bytes.length;
  }

  /**
   * Sends the next record.
   * @param mayJoin whether it may contain bytes of more than one message
   * @param maxBytes maximum length of the record
   */
  sendNext(link: NoiseLink, now: number, { mayJoin, maxBytes }: { mayJoin: boolean; maxBytes: number }): void {
    const record = this.#cut(Math.min(MAX_RECORD_BYTES, maxBytes), mayJoin);
    const start = this.#sentBytes;
    this.#sentBytes += record.length;
    this.#sent.push({ seq: link.sendRecord(record), start, record, sentAt: now });
  }

  /** Call when the peer has every record before `next`. */
  acknowledge(next: number): void {
    let count = 0;
    while (count < this.#sent.length && this.#sent[count]!.seq < next) count += 1;
    this.#forget(count);
  }

  /** Resends missing records numbered below `before`, except those resent just now. */
  resendMissing(link: NoiseLink, now: number, missing: { has(seq: number): boolean; before: number; pauseMs: number }) {
    for (const sent of this.#sent) {
      if (sent.seq >= missing.before) return;
      if (missing.has(sent.seq) || now - sent.sentAt < missing.pauseMs) continue;
      sent.sentAt = now;
      link.resend(sent.seq, sent.record);
    }
  }

  /** Resends everything from `offset` over another link. @throws StreamViolation for bytes that are not retained */
  rewind(offset: number): void {
    if (offset < this.#keptFrom || offset > this.#sentBytes) {
      throw new StreamViolation(
        `the peer has ${offset} bytes; retained are those from ${this.#keptFrom} to ${this.#sentBytes}`,
      );
    }
    let at = this.#keptFrom;
    const again = this.#sent.flatMap(({ record }) =>
      record.parts.flatMap((bytes) => {
        const rest = bytes.subarray(Math.max(0, offset - at));
        at += bytes.length;
        return rest.length === 0 ? [] : [{ bytes: rest, isLast: true }];
      }),
    );
    const unsent = this.#pending.slice(this.#head);
    if (unsent[0] !== undefined) unsent[0] = { ...unsent[0], bytes: unsent[0].bytes.subarray(this.#headAt) };
    this.#pending = [...again, ...unsent];
    this.#head = 0;
    this.#headAt = 0;
    this.#pendingBytes += this.#sentBytes - offset;
    this.#sentBytes = offset;
    this.#keptFrom = offset;
    this.#sent = [];
  }

  #forget(count: number): void {
    if (count === 0) return;
    const last = this.#sent[count - 1]!;
    this.#keptFrom = last.start + last.record.length;
    this.#sent.splice(0, count);
  }

  #cut(maxBytes: number, mayJoin: boolean): RecordBytes {
    const parts: Buffer[] = [];
    let room = maxBytes;
    while (room > 0 && this.#head < this.#pending.length) {
      const { bytes, isLast, onWritten } = this.#pending[this.#head]!;
      const part = bytes.subarray(this.#headAt, this.#headAt + room);
      parts.push(part);
      room -= part.length;
      this.#headAt += part.length;
      if (this.#headAt < bytes.length) break;
      this.#dropHead();
      onWritten?.();
      if (isLast && !mayJoin) break;
    }
    const length = maxBytes - room;
    this.#pendingBytes -= length;
    const mustJoin = parts.length > 1 && (length <= MAX_JOINED_BYTES || parts.length > MAX_PARTS);
    return { parts: mustJoin ? [Buffer.concat(parts, length)] : parts, length };
  }

  #dropHead(): void {
    this.#head += 1;
    this.#headAt = 0;
    if (this.#head < 64 && this.#head < this.#pending.length) return;
    this.#pending = this.#pending.slice(this.#head);
    this.#head = 0;
  }
}
