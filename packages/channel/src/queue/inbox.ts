import type { Received } from "../channel.js";
import { Fifo } from "./fifo.js";
import { TURN_MS, Turns } from "./turns.js";

/** Returns the next complete value; undefined when there is none. */
export type TakeReceived = () => Received | undefined;

/**
 * Matches arrived values with waiting receivers. Values are decoded when taken, not when they arrive. After a receiver has been
 * busy for `TURN_MS` with values that arrived together, it gets the next one in a later turn of the event loop.
 */
export class Inbox {
  readonly #waiting = new Fifo<(received: Received | undefined) => void>();
  readonly #take: TakeReceived;
  readonly #turns: Turns;
  /** When the first of the values in the current turn of the event loop was taken, ms; undefined for none. */
  #busySince: number | undefined;
  /** Waiting for a later turn; nothing is delivered before that. */
  #yielding = false;
  #ended = false;

  /** @param turns shared by the channels of one listener */
  constructor(take: TakeReceived, turns = new Turns()) {
    this.#take = take;
    this.#turns = turns;
  }

  receive(): Promise<Received | undefined> {
    if (this.#waiting.length === 0 && !this.#mustYield()) {
      const received = this.#takeOne();
      if (received !== undefined || this.#ended) return Promise.resolve(received);
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Call when a value may have arrived. */
  wake(): void {
    while (this.#waiting.length > 0 && !this.#mustYield()) {
      const received = this.#takeOne();
      if (received === undefined) return;
      this.#waiting.shift()?.(received);
    }
  }

  /** Nothing more will arrive: `receive` resolves with undefined once all values were taken. */
  end(): void {
    this.#ended = true;
    this.wake();
    if (this.#yielding) return;
    for (let resolve = this.#waiting.shift(); resolve !== undefined; resolve = this.#waiting.shift())
      resolve(undefined);
  }

  #takeOne(): Received | undefined {
    const received = this.#take();
    if (received === undefined) this.#busySince = undefined;
    else this.#busySince ??= performance.now();
    return received;
  }

  #mustYield(): boolean {
    if (this.#yielding) return true;
    if (this.#busySince === undefined || performance.now() - this.#busySince < TURN_MS) return false;
    this.#yielding = true;
    this.#turns.wait(() => {
      this.#yielding = false;
      this.#busySince = undefined;
      if (this.#ended) this.end();
      else this.wake();
    });
    return true;
  }
}
