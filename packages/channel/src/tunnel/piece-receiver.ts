import type { Received } from "../channel.js";
import { decodeFrame, tooLarge } from "../codec/decode.js";
import type { ChannelLimits } from "../limits.js";
import { Fifo } from "../queue/fifo.js";
import { getPieceCost } from "./piece.js";

interface Waiting {
  /** Undefined: it was over the limit. */
  json: Buffer | undefined;
  /** What had come when it was complete, in the units of `getPieceCost`. */
  end: number;
}

/**
 * Puts messages together from their pieces, and keeps those that are complete until they are taken. In memory are at
 * most one message and a window: the pieces of an incomplete message count as taken only while no other waits before it.
 */
export class PieceReceiver {
  readonly #window: number;
  readonly #limits: ChannelLimits;
  readonly #acknowledge: (taken: number) => void;
  readonly #messages = new Fifo<Waiting>();
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

  /** Returns what the peer did wrong, if anything. */
  accept(data: string, isLast: boolean): string | undefined {
    if (data === "") return "a piece of a message is empty";
    this.#arrived += getPieceCost(data);
    if (this.#arrived - this.#acknowledged > this.#window) {
      return `more was sent than the window of ${this.#window} bytes allows`;
    }
    if (!this.#isDropped) this.#keep(data, isLast);
    if (this.#messages.length === 0) this.#noteTaken(this.#arrived);
    return undefined;
  }

  take(): Received | undefined {
    const next = this.#messages.shift();
    if (next === undefined) return undefined;
    this.#noteTaken(this.#messages.length === 0 ? this.#arrived : next.end);
    return next.json === undefined ? tooLarge(this.#limits) : decodeFrame(next.json, this.#limits);
  }

  /** Nothing is taken any more; the peer can go on all the same, to come to its end. */
  drop(): void {
    this.#isDropped = true;
    this.#messages.clear();
    this.#parts = [];
    this.#noteTaken(this.#arrived);
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

  /** Told now and then: each time a quarter of the window is free again. */
  #noteTaken(taken: number): void {
    this.#taken = Math.max(this.#taken, taken);
    if (this.#taken - this.#acknowledged < this.#window / 4) return;
    this.#acknowledged = this.#taken;
    this.#acknowledge(this.#taken);
  }
}
