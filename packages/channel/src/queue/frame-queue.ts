import type { Received, ReceivedBytes } from "../channel.js";
import { FRAME_MARK, FRAME_START_BYTES, readFrameLengths } from "../codec/binary-frame.js";
import { decodeFrame } from "../codec/decode.js";
import type { ChannelLimits } from "../limits.js";
import { Fifo } from "./fifo.js";

/** JSON, a binary frame as received, or one from memory. */
type QueuedFrame = Buffer | { kind: "frame"; message: Buffer } | ReceivedBytes;

/** Received frames that wait for `receive`; JSON is still encoded. */
export class FrameQueue {
  readonly #frames = new Fifo<QueuedFrame>();
  readonly #limits: ChannelLimits;
  readonly #maxBytes: number;
  #bytes = 0;
  #acceptsBinary = false;

  constructor(limits: ChannelLimits, maxBytes: number) {
    this.#limits = limits;
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes || this.#frames.length >= this.#limits.maxWaitingMessages;
  }

  get hasRoom(): boolean {
    return this.#bytes <= this.#maxBytes / 2 && this.#frames.length <= this.#limits.maxWaitingMessages / 2;
  }

  get acceptsBinary(): boolean {
    return this.#acceptsBinary;
  }

  /** Makes later binary messages that start with `FRAME_MARK` binary frames. */
  acceptBinary(): void {
    this.#acceptsBinary = true;
  }

  push(message: Buffer, isBinary = false): void {
    this.#frames.push(isBinary && message[0] === FRAME_MARK ? { kind: "frame", message } : message);
    this.#bytes += message.length;
  }

  /** Adds a frame that is already decoded. */
  pushBytes(bytes: ReceivedBytes): void {
    this.#frames.push(bytes);
    this.#bytes += sizeOf(bytes);
  }

  take(): Received | undefined {
    const frame = this.#frames.shift();
    if (frame === undefined) return undefined;
    this.#bytes -= sizeOf(frame);
    if (Buffer.isBuffer(frame)) return decodeFrame(frame, this.#limits);
    if (frame.kind === "bytes") return this.#acceptsBinary ? frame : NOT_ACCEPTED;
    return this.#acceptsBinary ? decodeBinary(frame.message) : decodeFrame(frame.message, this.#limits);
  }

  clear(): void {
    this.#frames.clear();
    this.#bytes = 0;
  }
}

function sizeOf(waiting: QueuedFrame): number {
  if (Buffer.isBuffer(waiting)) return waiting.length;
  return waiting.kind === "frame" ? waiting.message.length : waiting.head.length + waiting.bytes.length;
}

const NOT_ACCEPTED: Received = { kind: "malformed", problem: "binary frame, where only JSON was agreed upon" };

function decodeBinary(message: Buffer): Received {
  const lengths = message.length < FRAME_START_BYTES ? undefined : readFrameLengths(message);
  const declared = lengths === undefined ? FRAME_START_BYTES : FRAME_START_BYTES + lengths.head + lengths.body;
  if (lengths === undefined || declared !== message.length) {
    const problem = `binary frame of ${declared} bytes in a message of ${message.length} bytes`;
    return { kind: "malformed", problem };
  }
  const bodyAt = FRAME_START_BYTES + lengths.head;
  const head = message.subarray(FRAME_START_BYTES, bodyAt);
  return { kind: "bytes", head, at: 0, bytes: message.subarray(bodyAt), isLast: true };
}
