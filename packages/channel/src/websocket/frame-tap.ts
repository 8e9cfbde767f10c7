import type { ReceivedBytes } from "../channel.js";
import { copyIfSmall, FRAME_MARK, FRAME_START_BYTES, readFrameLengths } from "../codec/binary-frame.js";

/** Receives the bytes of a websocket. */
export interface TapEvents {
  /** Bytes of frames that ws is to handle, in order. */
  pass(bytes: Buffer): void;
  /** The next part of a binary frame. */
  deliver(part: ReceivedBytes): void;
  /** Whether binary frames are taken from now on. */
  accepts(): boolean;
}

/** RFC 6455, 5.2: a binary message in one frame, not masked. */
const BINARY_AND_LAST = 0x82;
const CLOSE_AND_LAST = 0x88;
const LAST = 0x80;
const OPCODE = 0x0f;
const MASKED = 0x80;
const LENGTH = 0x7f;
const LENGTH_OF_2_BYTES = 126;
const LENGTH_OF_8_BYTES = 127;
const MASK_BYTES = 4;
const MAX_HEADER_BYTES = 14;
/** Opcodes below are of data: a continuation, a text, a binary message. */
const FIRST_CONTROL_OPCODE = 8;

interface Frame {
  head: Buffer;
  /** Bytes of the head that have arrived. */
  headBytes: number;
  body: number;
  /** Offset of the next part in the body. */
  at: number;
}

/**
 * Takes binary frames out of the bytes that a client receives on a websocket, in parts as they arrive: ws would copy each of them
 * into new memory. Everything else, invalid frames included, is passed on to ws.
 */
export class FrameTap {
  readonly #maxBytes: number;
  readonly #events: TapEvents;
  /** The beginning of a frame, until it is known whether ws handles it. */
  readonly #start = Buffer.alloc(MAX_HEADER_BYTES + FRAME_START_BYTES);
  #started = 0;
  /** Bytes of the current frame that are still to be passed on. */
  #passing = 0;
  #frame: Frame | undefined;
  /** A message in several frames has begun. */
  #isFragmented = false;
  #isClosing = false;
  #isOver = false;

  /** @param maxBytes largest message */
  constructor(maxBytes: number, events: TapEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#isOver; ) {
      if (this.#passing > 0) at = this.#pass(chunk, at);
      else if (this.#frame !== undefined) at = this.#take(this.#frame, chunk, at);
      else at = this.#begin(chunk, at);
    }
  }

  /** Drops what follows: the websocket reads no more. */
  end(): void {
    this.#isOver = true;
  }

  #pass(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#passing);
    this.#passing -= end - at;
    this.#events.pass(chunk.subarray(at, end));
    if (this.#passing === 0 && this.#isClosing) this.#isOver = true;
    return end;
  }

  #take(frame: Frame, chunk: Buffer, at: number): number {
    const { head, body } = frame;
    if (frame.headBytes < head.length) {
      const copied = chunk.copy(head, frame.headBytes, at);
      frame.headBytes += copied;
      if (frame.headBytes === head.length && body === 0) this.#deliver(frame, EMPTY);
      return at + copied;
    }
    const end = Math.min(chunk.length, at + body - frame.at);
    this.#deliver(frame, copyIfSmall(chunk.subarray(at, end)));
    return end;
  }

  #deliver(frame: Frame, bytes: Buffer): void {
    const { head, at, body } = frame;
    frame.at += bytes.length;
    const isLast = frame.at === body;
    if (isLast) this.#frame = undefined;
    this.#events.deliver({ kind: "bytes", head, at, bytes, isLast });
  }

  /** Adds bytes to the start of a frame until it is known whether ws handles it. */
  #begin(chunk: Buffer, from: number): number {
    let at = from;
    for (let needed = this.#decide(); needed > 0 && at < chunk.length; needed = this.#decide()) {
      // These are few.
      while (this.#started < needed && at < chunk.length) this.#start[this.#started++] = chunk[at++]!;
    }
    return at;
  }

  /** Returns how many bytes of the start are needed to decide; 0 once it is known whether ws handles the frame. */
  #decide(): number {
    const start = this.#start;
    if (this.#started < 2) return 2;
    const code = start[1]! & LENGTH;
    const lengthBytes = code === LENGTH_OF_2_BYTES ? 2 : code === LENGTH_OF_8_BYTES ? 8 : 0;
    const isMasked = (start[1]! & MASKED) !== 0;
    const headerBytes = 2 + lengthBytes + (isMasked ? MASK_BYTES : 0);
    if (this.#started < headerBytes) return headerBytes;
    const payload = lengthBytes === 0 ? code : readLength(start, lengthBytes);
    const mayBeOurs =
      start[0] === BINARY_AND_LAST &&
      !isMasked &&
      !this.#isFragmented &&
      payload >= FRAME_START_BYTES &&
      payload <= this.#maxBytes &&
      this.#events.accepts();
    if (!mayBeOurs) return this.#leave(headerBytes + payload);
    if (this.#started < headerBytes + FRAME_START_BYTES) return headerBytes + FRAME_START_BYTES;
    const lengths = readFrameLengths(start.subarray(headerBytes));
    const declared = FRAME_START_BYTES + lengths.head + lengths.body;
    if (start[headerBytes] !== FRAME_MARK || declared !== payload) return this.#leave(headerBytes + payload);
    this.#started = 0;
    this.#frame = { head: Buffer.allocUnsafe(lengths.head), headBytes: 0, body: lengths.body, at: 0 };
    if (lengths.head === 0 && lengths.body === 0) this.#deliver(this.#frame, EMPTY);
    return 0;
  }

  /** Passes on the start of a frame of this size, and then the rest. */
  #leave(frameBytes: number): 0 {
    const first = this.#start[0]!;
    if ((first & OPCODE) < FIRST_CONTROL_OPCODE) this.#isFragmented = (first & LAST) === 0;
    this.#isClosing = first === CLOSE_AND_LAST;
    const start = Buffer.from(this.#start.subarray(0, this.#started));
    this.#passing = frameBytes;
    this.#started = 0;
    this.#pass(start, 0);
    return 0;
  }
}

const EMPTY = Buffer.alloc(0);

function readLength(start: Buffer, bytes: number): number {
  return bytes === 2 ? start.readUInt16BE(2) : start.readUInt32BE(2) * 2 ** 32 + start.readUInt32BE(6);
}
