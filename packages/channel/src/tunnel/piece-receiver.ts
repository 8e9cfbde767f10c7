import type { Received } from "../channel.js";
import { decodeFrame, tooLarge } from "../codec/decode.js";
import type { ChannelLimits } from "../limits.js";
import { Fifo } from "../queue/fifo.js";
import { getPieceCost } from "./piece.js";

interface CompleteMessage {
  /** Undefined when the message was over the limit. */
  json: Buffer | undefined;
  /** Cost of all pieces up to its end, in the units of `getPieceCost`. */
  end: number;
}

/**
 * Assembles messages from their pieces, and queues complete ones until they are taken. Memory is bounded by one message and
 * a window: pieces of an incomplete message count as taken only while no complete one is queued.
 */
export class PieceReceiver {
  readonly #window: number;
  readonly #limits: ChannelLimits;
  readonly #acknowledge: (taken: number) => void;
  readonly #messages = new Fifo<CompleteMessage>();
  #parts: Buffer[] = [];
  #partBytes = 0;
  #arrived = 0;
  #taken = 0;
  #acknowledged = 0;
  #isDropped = false;

  constructor(window: number, limits: ChannelLimits, acknowledge: (taken: number) => void) {
    this.#window = window;
    this.#limits = limits;
    this.#acknowledge = acknowledge;
  }

  /** Returns the peer's protocol violation, if any. */
  accept(data: string, isLast: boolean): string | undefined {
    if (data === "") return "a piece of a message is empty";
    this.#arrived += getPieceCost(data);
    if (this.#arrived - this.#acknowledged > this.#window) {
      return `more was sent than the window of ${this.#window} bytes allows`;
    }
    if (!this.#isDropped) this.#keep(data, isLast);
    if (this.#messages.length === 0) this.#recordTaken(this.#arrived);
    return undefined;
  }

  take(): Received | undefined {
    const next = this.#messages.shift();
    if (next === undefined) return undefined;
    this.#recordTaken(this.#messages.length === 0 ? this.#arrived : next.end);
    return next.json === undefined ? tooLarge(this.#limits) : decodeFrame(next.json, this.#limits);
  }

  /** Discards queued and later messages. Pieces are still acknowledged, so that the peer can finish sending. */
  drop(): void {
    this.#isDropped = true;
    this.#messages.clear();
    this.#parts = [];
    this.#recordTaken(this.#arrived);
  }

  #keep(data: string, isLast: boolean): void {
    const part = Buffer.from(data);
    this.#partBytes += part.length;
    const fits = this.#partBytes <= this.#limits.maxMessageBytes;
    if (fits) this.#parts.push(part);
    else this.#parts = [];
    if (!isLast) return;
    const json = fits ? Buffer.concat(this.#parts) : undefined;
    this.#messages.push({ json, end: this.#arrived });
    this.#parts = [];
    this.#partBytes = 0;
  }

  /** Acknowledges whenever at least a quarter of the window was taken. */
  #recordTaken(taken: number): void {
    this.#taken = Math.max(this.#taken, taken);
    if (this.#taken - this.#acknowledged < this.#window / 4) return;
    this.#acknowledged = this.#taken;
    this.#acknowledge(this.#taken);
  }
}
