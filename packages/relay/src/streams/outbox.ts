import { MAX_RECORD_BYTES } from "../limits.js";
import { StreamViolation } from "../records/violation.js";
import type { NoiseLink } from "./noise-link.js";

/** A sent record, retained until it is acknowledged. */
interface SentRecord {
  seq: number;
  /** Offset of its first byte in the stream. */
  start: number;
  bytes: Buffer;
  /** Time of the last transmission, by the clock. */
  sentAt: number;
}

interface Pending {
  bytes: Buffer;
  onWritten?: (() => void) | undefined;
}

/** The send buffer of a stream: unsent bytes, and records that may have to be resent. */
export class Outbox {
  #pending: Pending[] = [];
  /** Index of the first message that is not completely sent, and the bytes of it that are. */
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

  push(bytes: Buffer, onWritten?: () => void): void {
    this.#pending.push({ bytes, onWritten });
    this.#pendingBytes += bytes.length;
  }

  /**
   * Sends the next record.
   * @param mayJoin whether it may hold more than one message
   * @param maxBytes of the record
   */
  sendNext(link: NoiseLink, now: number, { mayJoin, maxBytes }: { mayJoin: boolean; maxBytes: number }): void {
    const bytes = this.#cut(Math.min(MAX_RECORD_BYTES, maxBytes), mayJoin);
    const start = this.#sentBytes;
    this.#sentBytes += bytes.length;
    this.#sent.push({ seq: link.sendRecord(bytes), start, bytes, sentAt: now });
  }

  /** Call when the peer has every record before `next`. */
  acknowledge(next: number): void {
    let count = 0;
    while (count < this.#sent.length && this.#sent[count]!.seq < next) count += 1;
    this.#forget(count);
  }

  /** Resends missing records numbered below `before`, except those resent just now. */
  resendMissing(link: NoiseLink, now: number, missing: { has(seq: number): boolean; before: number; pauseMs: number }) {
    for (const record of this.#sent) {
      if (record.seq >= missing.before) return;
      if (missing.has(record.seq) || now - record.sentAt < missing.pauseMs) continue;
      record.sentAt = now;
      link.resend(record.seq, record.bytes);
    }
  }

  /** Resends everything from `offset` over another link. @throws StreamViolation for bytes that are not retained */
  rewind(offset: number): void {
    if (offset < this.#keptFrom || offset > this.#sentBytes) {
      throw new StreamViolation(
        `the peer has ${offset} bytes; kept are those from ${this.#keptFrom} to ${this.#sentBytes}`,
      );
    }
    const again = this.#sent.flatMap(({ start, bytes }) => {
      const rest = start + bytes.length <= offset ? undefined : bytes.subarray(Math.max(0, offset - start));
      return rest === undefined ? [] : [{ bytes: rest }];
    });
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
    this.#keptFrom = last.start + last.bytes.length;
    this.#sent.splice(0, count);
  }

  #cut(maxBytes: number, mayJoin: boolean): Buffer {
    const parts: Buffer[] = [];
    let room = maxBytes;
    while (room > 0 && this.#head < this.#pending.length) {
      const { bytes, onWritten } = this.#pending[this.#head]!;
      const part = bytes.subarray(this.#headAt, this.#headAt + room);
      parts.push(part);
      room -= part.length;
      this.#headAt += part.length;
      if (this.#headAt < bytes.length) break;
      this.#dropHead();
      onWritten?.();
      if (!mayJoin) break;
    }
    const joined = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    this.#pendingBytes -= joined.length;
    return joined;
  }

  #dropHead(): void {
    this.#head += 1;
    this.#headAt = 0;
    if (this.#head < 64 && this.#head < this.#pending.length) return;
    this.#pending = this.#pending.slice(this.#head);
    this.#head = 0;
  }
}
