import type { Channel, ChannelEnd, Received } from "../channel.js";
import { decodeFrame } from "../codec/decode.js";
import { checkSize, encodeValue } from "../codec/encode.js";
import { type ChannelLimits, resolveLimits } from "../limits.js";
import { closedError, Ending } from "../queue/ending.js";
import { Fifo } from "../queue/fifo.js";
import { Inbox } from "../queue/inbox.js";
import { SendGate } from "../queue/send-gate.js";

/**
 * Two ends of one channel in this process. Values go through JSON as on a wire, so nothing is shared between the
 * ends. What waits to be received is what holds the sender back.
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
  readonly #frames = new Fifo<Buffer>();
  #waitingBytes = 0;
  readonly #inbox = new Inbox(() => this.#take());
  readonly #gate = new SendGate({ isFull: () => this.#peer.isFull(), hasRoom: () => this.#peer.hasRoom() });
  #peer!: MemoryChannel;

  constructor(limits: ChannelLimits) {
    this.#limits = limits;
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
      return Buffer.from(json.buffer, json.byteOffset, json.byteLength);
    });
  }

  receive(): Promise<Received | undefined> {
    return this.#inbox.receive();
  }

  async close(): Promise<void> {
    if (this.#ending.end?.kind === "closed") return;
    this.#frames.clear();
    this.#waitingBytes = 0;
    // What we sent lies with the peer already, who may take it after our end.
    this.#gate.open();
    this.#end({ kind: "closed" });
    this.#peer.#end({ kind: "peer_closed" });
  }

  isFull(): boolean {
    const { highWaterBytes, maxWaitingMessages } = this.#limits;
    return this.#waitingBytes >= highWaterBytes || this.#frames.length >= maxWaitingMessages;
  }

  hasRoom(): boolean {
    const { highWaterBytes, maxWaitingMessages } = this.#limits;
    return this.#waitingBytes <= highWaterBytes / 2 && this.#frames.length <= maxWaitingMessages / 2;
  }

  #deliver(encode: () => Buffer): Promise<void> {
    if (this.#ending.end !== undefined) return Promise.reject(closedError(this.#ending.end));
    let json: Buffer;
    try {
      json = encode();
    } catch (error) {
      return Promise.reject(error);
    }
    this.#peer.#frames.push(json);
    this.#peer.#waitingBytes += json.length;
    this.#peer.#inbox.wake();
    return this.#gate.pass();
  }

  #take(): Received | undefined {
    const json = this.#frames.shift();
    if (json === undefined) return undefined;
    this.#waitingBytes -= json.length;
    this.#peer.#gate.release();
    return decodeFrame(json, this.#limits);
  }

  #end(end: ChannelEnd): void {
    this.#ending.settle(end);
    this.#gate.fail(closedError(this.#ending.end));
    this.#inbox.end();
  }
}
