import type { BinaryFrames, Channel, ChannelEnd, Received, ReceivedBytes } from "../channel.js";
import { checkHead } from "../codec/binary-frame.js";
import { asBuffer, checkSize, encodeValue } from "../codec/encode.js";
import { type ChannelLimits, resolveLimits } from "../limits.js";
import { closedError, Ending } from "../queue/ending.js";
import { FrameQueue } from "../queue/frame-queue.js";
import { Inbox } from "../queue/inbox.js";
import { rejected, SendGate } from "../queue/send-gate.js";

/**
 * Two ends of one channel in this process. Values are encoded as JSON as on a wire, so the ends share no objects,
 * except the body of a binary frame, which is not copied. Values that are not received yet apply back-pressure.
 */
export function createMemoryChannelPair(limits?: Partial<ChannelLimits>): [Channel, Channel] {
  const resolved = resolveLimits(limits);
  const left = new MemoryChannel(resolved);
  const right = new MemoryChannel(resolved);
  left.connect(right);
  right.connect(left);
  return [left, right];
}

class MemoryChannel implements Channel {
  readonly #limits: ChannelLimits;
  readonly #ending = new Ending();
  readonly #frames: FrameQueue;
  readonly #inbox = new Inbox(() => this.#take());
  readonly #gate = new SendGate({
    isFull: () => this.#peer.#frames.isFull,
    hasRoom: () => this.#peer.#frames.hasRoom,
  });
  #peer!: MemoryChannel;
  readonly binary: BinaryFrames = {
    accept: () => this.#frames.acceptBinary(),
    send: (head, body) =>
      this.#deliver(() => {
        checkHead(head);
        checkSize(body.length, this.#limits);
        return { kind: "bytes", head: Buffer.from(head), at: 0, bytes: asBuffer(body), isLast: true };
      }),
    reportsWritten: false,
  };

  constructor(limits: ChannelLimits) {
    this.#limits = limits;
    this.#frames = new FrameQueue(limits, limits.highWaterBytes);
  }

  get closed(): Promise<ChannelEnd> {
    return this.#ending.closed;
  }

  connect(peer: MemoryChannel): void {
    this.#peer = peer;
  }

  send(value: unknown): Promise<void> {
    return this.#deliver(() => encodeValue(value, this.#limits));
  }

  sendEncoded(json: Uint8Array): Promise<void> {
    return this.#deliver(() => {
      checkSize(json.length, this.#limits);
      return asBuffer(json);
    });
  }

  receive(): Promise<Received | undefined> {
    return this.#inbox.receive();
  }

  async close(): Promise<void> {
    if (this.#ending.end?.kind === "closed") return;
    this.#frames.clear();
    // Sent values are already in the peer's queue, and can be received after this end is closed.
    this.#gate.open();
    this.#end({ kind: "closed" });
    this.#peer.#end({ kind: "peer_closed" });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #deliver(encode: () => Buffer | ReceivedBytes): Promise<void> {
    if (this.#ending.end !== undefined) return rejected(closedError(this.#ending.end));
    try {
      const encoded = encode();
      if (Buffer.isBuffer(encoded)) this.#peer.#frames.push(encoded);
      else this.#peer.#frames.pushBytes(encoded);
    } catch (error) {
      return rejected(error);
    }
    this.#peer.#inbox.wake();
    return this.#gate.pass();
  }

  #take(): Received | undefined {
    const received = this.#frames.take();
    this.#peer.#gate.release();
    return received;
  }

  #end(end: ChannelEnd): void {
    this.#ending.settle(end);
    this.#gate.fail(closedError(this.#ending.end));
    this.#inbox.end();
  }
}
