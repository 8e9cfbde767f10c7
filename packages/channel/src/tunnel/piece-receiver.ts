import type { Received } from "../channel.js";
import { decodeFrame, tooLarge } from "../codec/decode.js";
import type { ChannelLimits } from "../limits.js";
import { Fifo } from "../queue/fifo.js";
import { withRoom } from "../reads/with-room.js";
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
  /** The beginning of an incomplete message, and its length; longer than the limit if it is dropped. */
  #partial: Buffer = NOTHING;
  #partialBytes = 0;
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
    this.#partial = NOTHING;
    this.#recordTaken(this.#arrived);
  }

  #keep(data: string, isLast: boolean): void {
    if (isLast && this.#partialBytes === 0) {
      const json = Buffer.from(data);
      const fits = json.length <= this.#limits.maxMessageBytes;
      this.#messages.push({ json: fits ? json : undefined, end: this.#arrived });
      return;
    }
    this.#append(data);
    if (!isLast) return;
    const fits = this.#partialBytes <= this.#limits.maxMessageBytes;
    const json = fits ? this.#partial.subarray(0, this.#partialBytes) : undefined;
    this.#messages.push({ json, end: this.#arrived });
    this.#partial = NOTHING;
    this.#partialBytes = 0;
  }

  #append(data: string): void {
    const from = this.#partialBytes;
    const { maxMessageBytes } = this.#limits;
    this.#partialBytes += Buffer.byteLength(data);
    if (this.#partialBytes > maxMessageBytes) {
      this.#partial = NOTHING;
      return;
    }
    this.#partial = withRoom(this.#partial, from, this.#partialBytes, maxMessageBytes);
    this.#partial.write(data, from);
  }

  /** Acknowledges whenever at least a quarter of the window was taken. */
  #recordTaken(taken: number): void {
    this.#taken = Math.max(this.#taken, taken);
    if (this.#taken - this.#acknowledged < this.#window / 4) return;
    this.#acknowledged = this.#taken;
    this.#acknowledge(this.#taken);
  }
}

const NOTHING = Buffer.alloc(0);
