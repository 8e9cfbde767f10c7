import type { BinaryFrames, Channel, ChannelEnd, CloseOptions, Received } from "../channel.js";
import { FRAME_START_BYTES } from "../codec/binary-frame.js";
import { type ChannelLimits, DEFAULT_CLOSE_DEADLINE_MS, resolveLimits } from "../limits.js";
import { Ending } from "../queue/ending.js";
import { FrameQueue } from "../queue/frame-queue.js";
import { Inbox } from "../queue/inbox.js";
import { Outbox } from "../queue/outbox.js";

/** Carries whole messages to the peer, in order, over a transport of its own. */
export interface MessageCarrier {
  /** Accepts one message: UTF-8 JSON, or a binary frame where the options allow them. Must not throw. Calls `onWritten` when the bytes are not needed any more. */
  send(json: Buffer, onWritten?: () => void): void;
  /** Bytes that it has accepted and that still wait to be sent. */
  readonly waitingBytes: number;
  /**
   * True: received messages fill the queue up to its limit, and the peer should be paused. False: there is room again.
   * Messages that arrive anyway are retained.
   */
  setFull(isFull: boolean): void;
  /** Called once, by `close` of the channel: sends what is queued, up to the deadline, and ends the transport. Must not reject. */
  close(options: Required<CloseOptions>): Promise<void>;
}

/** Options of `CarriedChannel`. */
export interface CarriedOptions {
  limits?: Partial<ChannelLimits>;
  /** Whether the carrier takes messages of any bytes. Default false: JSON only. */
  carriesBinary?: boolean;
  /** Called in order for a message that is not JSON or over a limit, before it is received as `malformed`. */
  onMalformed?: (problem: string) => void;
}

/** A channel over a transport of whole messages; its owner reports the events of the transport. */
export class CarriedChannel implements Channel {
  readonly binary: BinaryFrames | undefined;
  readonly #carrier: MessageCarrier;
  readonly #limits: ChannelLimits;
  readonly #onMalformed: CarriedOptions["onMalformed"];
  readonly #ending = new Ending();
  readonly #frames: FrameQueue;
  readonly #inbox = new Inbox(() => this.#take());
  readonly #outbox: Outbox;
  #isFull = false;
  #waitingBytes = 0;
  #closing: Promise<void> | undefined;

  constructor(carrier: MessageCarrier, { limits, carriesBinary = false, onMalformed }: CarriedOptions = {}) {
    this.#carrier = carrier;
    if (carriesBinary) {
      this.binary = {
        accept: () => this.#frames.acceptBinary(),
        send: (head, body, onWritten) => this.#outbox.sendFrame(head, body, onWritten),
        reportsWritten: true,
      };
    }
    this.#limits = resolveLimits(limits);
    this.#onMalformed = onMalformed;
    this.#frames = new FrameQueue(this.#limits, this.#limits.maxWaitingBytes);
    this.#outbox = new Outbox(carrier, this.#limits, this.#ending);
  }

  get closed(): Promise<ChannelEnd> {
    return this.#ending.closed;
  }

  /** Bytes of received messages that wait to be taken. */
  get receivedBytes(): number {
    return this.#waitingBytes;
  }

  send(value: unknown): Promise<void> {
    return this.#outbox.send(value);
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#outbox.sendEncoded(json, onWritten);
  }

  /** A message came from the peer: JSON, or a binary frame. */
  deliver(json: Buffer): void {
    if (this.#ending.end !== undefined || this.#closing !== undefined) return;
    this.#frames.push(json, this.binary !== undefined);
    this.#waitingBytes += json.length;
    this.#inbox.wake();
    if (!this.#isFull && this.#frames.isFull) this.#setFull(true);
  }

  receive(): Promise<Received | undefined> {
    return this.#inbox.receive();
  }

  /** Fewer bytes are waiting to be sent than before. */
  noteSent(): void {
    this.#outbox.release();
  }

  /** The transport has ended. What came before can still be received. Only the first end counts. */
  end(end: ChannelEnd): void {
    this.#ending.settle(end);
    this.#outbox.end();
    this.#inbox.end();
  }

  close({ deadlineMs = DEFAULT_CLOSE_DEADLINE_MS, abrupt = false }: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close({ deadlineMs, abrupt });
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(options: Required<CloseOptions>): Promise<void> {
    this.#outbox.stop();
    this.#frames.clear();
    this.#waitingBytes = 0;
    this.#inbox.end();
    if (this.#isFull) this.#setFull(false);
    await this.#carrier.close(options);
    this.end({ kind: "closed" });
  }

  #take(): Received | undefined {
    const received = this.#frames.take();
    if (received === undefined) this.#waitingBytes = 0;
    else if (received.kind === "value") this.#waitingBytes -= received.bytes ?? 0;
    else if (received.kind === "bytes") {
      this.#waitingBytes -= FRAME_START_BYTES + received.head.length + received.bytes.length;
    } else if (received.kind === "malformed") this.#onMalformed?.(received.problem);
    if (this.#isFull && this.#frames.hasRoom) this.#setFull(false);
    return received;
  }

  #setFull(isFull: boolean): void {
    this.#isFull = isFull;
    this.#carrier.setFull(isFull);
  }
}
