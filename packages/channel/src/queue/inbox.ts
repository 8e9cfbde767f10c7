import type { Received } from "../channel.js";
import { Fifo } from "./fifo.js";
import { TURN_MS, Turns } from "./turns.js";

/** `undefined`: nothing has arrived that is complete. */
export type TakeReceived = () => Received | undefined;

/**
 * Matches what has arrived with the receivers that wait for it. Values are decoded when taken, not when they arrive. A receiver that
 * is kept busy by values that came together gets the next one in a later turn of the event loop.
 */
export class Inbox {
  readonly #waiting = new Fifo<(received: Received | undefined) => void>();
  readonly #take: TakeReceived;
  readonly #turns: Turns;
  /** Start of the current run of values that were taken without a turn in between, ms; undefined for none. */
  #busySince: number | undefined;
  /** It waits for its turn: nothing is delivered before that. */
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

  /** Call when something has arrived. */
  wake(): void {
    while (this.#waiting.length > 0 && !this.#mustYield()) {
      const received = this.#takeOne();
      if (received === undefined) return;
      this.#waiting.shift()?.(received);
    }
  }

  /** Nothing more will arrive: `receive` resolves with undefined once everything was taken. */
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
