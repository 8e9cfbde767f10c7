import type { ReceivedBytes } from "../channel.js";
import { copyIfSmall, FRAME_MARK, FRAME_START_BYTES, readFrameLengths } from "../codec/binary-frame.js";
import { Fifo } from "../queue/fifo.js";
import { withRoom } from "../reads/with-room.js";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The buffer for lines that span reads is reused up to this size, bytes. */
const KEPT_CARRY_BYTES = 256 * 1024;

/** A frame that cannot be read to its end: the boundaries of everything after it are unknown. */
export interface BrokenFrame {
  kind: "broken";
  /** The problem, as a clause of an error message. */
  problem: string;
}

/** The frame that is being read. */
interface Frame {
  head: Buffer;
  /** Bytes of the body, and the number of them that were returned. */
  length: number;
  at: number;
}

/**
 * Splits a stream of bytes into lines and, once accepted, binary frames between them, one at a time on demand. Takes linear
 * time; neither a line within one chunk nor a large part of a frame's body is copied. Buffers at most one line, up to the limit, in
 * addition to the waiting chunks.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #chunks = new Fifo<Buffer>();
  #chunk: Buffer | undefined;
  #at = 0;
  #waitingBytes = 0;
  #carry: Buffer = Buffer.alloc(0);
  #carried = 0;
  #skipping = false;
  #ended = false;
  #acceptsFrames = false;
  /** `head` while the head of a frame is read; the frame while its body is returned. */
  #frame: "head" | Frame | undefined;
  #broken = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Bytes that were pushed and not scanned yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get waitingChunks(): number {
    return this.#chunks.length;
  }

  /** Makes a later line that would start with `FRAME_MARK` a binary frame. */
  acceptFrames(): void {
    this.#acceptsFrames = true;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0 || this.#broken) return;
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.length;
  }

  /** Ends the input. Bytes after the last line feed are a line as well. */
  end(): void {
    this.#ended = true;
  }

  clear(): void {
    this.#chunks.clear();
    this.#chunk = undefined;
    this.#at = 0;
    this.#waitingBytes = 0;
    this.#carry = Buffer.alloc(0);
    this.#carried = 0;
  }

  /**
   * The next line that is not blank, without LF or CRLF, with bytes that are valid until the next call; or the part of a
   * frame's body that has arrived. `too_long` is returned for a line over the limit, as soon as that is known; the rest of it is
   * skipped. After a broken frame nothing is returned any more.
   */
  next(): Buffer | "too_long" | ReceivedBytes | BrokenFrame | undefined {
    while (!this.#broken) {
      const piece = this.#frame === undefined ? this.#nextPiece() : this.#nextOfFrame(this.#frame);
      if (!Buffer.isBuffer(piece)) {
        if (piece !== "partial") return piece;
      } else if (!isBlank(piece)) {
        return piece;
      }
    }
    return undefined;
  }

  #nextOfFrame(frame: "head" | Frame): "partial" | ReceivedBytes | BrokenFrame | undefined {
    if (frame !== "head" && frame.length === 0) return this.#nextPart(frame, Buffer.alloc(0));
    this.#chunk ??= this.#chunks.shift();
    const chunk = this.#chunk;
    if (chunk === undefined) return this.#ended ? this.#break("the input ended inside of a binary frame") : undefined;
    if (frame === "head") return this.#nextOfHead(chunk);
    const end = Math.min(chunk.length, this.#at + frame.length - frame.at);
    const bytes = chunk.subarray(this.#at, end);
    this.#advance(end);
    return this.#nextPart(frame, copyIfSmall(bytes));
  }

  #nextPart(frame: Frame, bytes: Buffer): ReceivedBytes {
    const { head, at, length } = frame;
    frame.at += bytes.length;
    const isLast = frame.at === length;
    if (isLast) this.#frame = undefined;
    return { kind: "bytes", head, at, bytes, isLast };
  }

  #nextOfHead(chunk: Buffer): "partial" | BrokenFrame {
    const started = this.#carried >= FRAME_START_BYTES;
    const needed = FRAME_START_BYTES + (started ? readFrameLengths(this.#carry).head : 0);
    const end = Math.min(chunk.length, this.#at + needed - this.#carried);
    this.#append(chunk, this.#at, end);
    this.#advance(end);
    if (this.#carried < FRAME_START_BYTES) return "partial";
    const { head, body } = readFrameLengths(this.#carry);
    if (body > this.#maxLineBytes) {
      return this.#break(`a binary frame of ${body} bytes is larger than the limit of ${this.#maxLineBytes} bytes`);
    }
    if (this.#carried < FRAME_START_BYTES + head) return "partial";
    this.#frame = { head: Buffer.from(this.#carry.subarray(FRAME_START_BYTES, this.#carried)), length: body, at: 0 };
    this.#dropCarry();
    return "partial";
  }

  #break(problem: string): BrokenFrame {
    this.clear();
    this.#broken = true;
    return { kind: "broken", problem };
  }

  #nextPiece(): Buffer | "partial" | "too_long" | undefined {
    this.#chunk ??= this.#chunks.shift();
    const chunk = this.#chunk;
    if (chunk === undefined) return this.#ended ? this.#lastLine() : undefined;
    const start = this.#at;
    if (this.#acceptsFrames && chunk[start] === FRAME_MARK && this.#carried === 0 && !this.#skipping) {
      this.#frame = "head";
      return "partial";
    }
    const feed = chunk.indexOf(LINE_FEED, start);
    const end = feed === -1 ? chunk.length : feed;
    this.#advance(feed === -1 ? chunk.length : feed + 1);
    if (this.#skipping) {
      this.#skipping = feed === -1;
      return "partial";
    }
    // One byte more than the limit is accepted: it may be the CR of the line end.
    if (this.#carried + end - start > this.#maxLineBytes + 1) {
      this.#skipping = feed === -1;
      this.#dropCarry();
      return "too_long";
    }
    if (feed === -1) {
      this.#append(chunk, start, end);
      return "partial";
    }
    if (this.#carried === 0) return this.#finish(chunk.subarray(start, end));
    this.#append(chunk, start, end);
    return this.#finishCarry();
  }

  #advance(to: number): void {
    this.#waitingBytes -= to - this.#at;
    this.#at = to;
    if (this.#chunk !== undefined && to === this.#chunk.length) {
      this.#chunk = undefined;
      this.#at = 0;
    }
  }

  #lastLine(): Buffer | "too_long" | undefined {
    return this.#carried === 0 ? undefined : this.#finishCarry();
  }

  #finishCarry(): Buffer | "too_long" {
    const line = this.#carry.subarray(0, this.#carried);
    this.#dropCarry();
    return this.#finish(line);
  }

  #finish(line: Buffer): Buffer | "too_long" {
    const bytes = line[line.length - 1] === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
    return bytes.length > this.#maxLineBytes ? "too_long" : bytes;
  }

  #append(chunk: Buffer, start: number, end: number): void {
    const needed = this.#carried + end - start;
    const room = Math.max(needed, FRAME_START_BYTES);
    this.#carry = withRoom(this.#carry, this.#carried, room, this.#maxLineBytes + 1);
    chunk.copy(this.#carry, this.#carried, start, end);
    this.#carried = needed;
  }

  #dropCarry(): void {
    this.#carried = 0;
    if (this.#carry.length > KEPT_CARRY_BYTES) this.#carry = Buffer.alloc(0);
  }
}

function isBlank(line: Buffer): boolean {
  for (let i = 0; i < line.length; i++) {
    const byte = line[i];
    if (byte !== 0x20 && byte !== 0x09 && byte !== CARRIAGE_RETURN) return false;
  }
  return true;
}
