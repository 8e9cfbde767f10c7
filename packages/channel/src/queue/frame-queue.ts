import type { Received } from "../channel.js";
import { decodeFrame } from "../codec/decode.js";
import type { ChannelLimits } from "../limits.js";
import { Fifo } from "./fifo.js";

/** Received frames that wait to be taken, still encoded. */
export class FrameQueue {
  readonly #frames = new Fifo<Buffer>();
  readonly #limits: ChannelLimits;
  readonly #maxBytes: number;
  #bytes = 0;

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

  push(frame: Buffer): void {
    this.#frames.push(frame);
    this.#bytes += frame.length;
  }

  take(): Received | undefined {
    const frame = this.#frames.shift();
    if (frame === undefined) return undefined;
    this.#bytes -= frame.length;
    return decodeFrame(frame, this.#limits);
  }

  clear(): void {
    this.#frames.clear();
    this.#bytes = 0;
  }
}
