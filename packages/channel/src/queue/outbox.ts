import { checkHead, FRAME_START_BYTES, writeFrameStart } from "../codec/binary-frame.js";
import { asBuffer, checkSize, encodeValue } from "../codec/encode.js";
import type { ChannelLimits } from "../limits.js";
import { closedError, type Ending } from "./ending.js";
import { rejected, SendGate } from "./send-gate.js";

/** Where encoded messages wait to be sent. */
export interface OutboxTarget {
  /** Accepts one message, UTF-8 JSON. Calls `onWritten` when the bytes are not needed any more. A throw rejects the send. */
  send(json: Buffer, onWritten?: () => void): void;
  /** Bytes that it has accepted and that still wait to be sent. */
  readonly waitingBytes: number;
}

/** The sending half of a channel: messages are checked against the limits, and their senders wait while too much is waiting to be sent. */
export class Outbox {
  readonly #target: OutboxTarget;
  readonly #limits: ChannelLimits;
  readonly #ending: Ending;
  readonly #gate: SendGate;
  #isClosing = false;

  constructor(target: OutboxTarget, limits: ChannelLimits, ending: Ending) {
    this.#target = target;
    this.#limits = limits;
    this.#ending = ending;
    const { highWaterBytes } = limits;
    this.#gate = new SendGate({
      isFull: () => target.waitingBytes >= highWaterBytes,
      hasRoom: () => target.waitingBytes <= highWaterBytes / 2,
    });
  }

  send(value: unknown): Promise<void> {
    return this.#push(() => encodeValue(value, this.#limits));
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    const encode = () => {
      checkSize(json.length, this.#limits);
      return asBuffer(json);
    };
    return this.#push(encode, onWritten);
  }

  /** A binary frame as one message. The body is copied: a target may keep a message until it is acknowledged. */
  sendFrame(head: Uint8Array, body: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#push(() => {
      checkHead(head);
      const bytes = FRAME_START_BYTES + head.length + body.length;
      checkSize(bytes, this.#limits);
      const message = Buffer.allocUnsafe(bytes);
      message.set(body, writeFrameStart(message, 0, head, body.length));
      onWritten?.();
      return message;
    });
  }

  /** Fewer bytes are waiting than before. */
  release(): void {
    this.#gate.release();
  }

  /** Later messages are refused; those that wait are still sent. */
  stop(): void {
    this.#isClosing = true;
  }

  /** The channel has ended: blocked senders are rejected. */
  end(): void {
    this.#gate.fail(closedError(this.#ending.end));
  }

  #push(encode: () => Buffer, onWritten?: () => void): Promise<void> {
    if (this.#ending.end !== undefined) return rejected(closedError(this.#ending.end));
    if (this.#isClosing) return rejected(closedError({ kind: "closed" }));
    try {
      this.#target.send(encode(), onWritten);
    } catch (error) {
      return rejected(error);
    }
    return this.#gate.pass();
  }
}
