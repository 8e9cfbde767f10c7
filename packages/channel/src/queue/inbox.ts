import type { Received } from "../channel.js";
import { Fifo } from "./fifo.js";

/** `undefined`: nothing has arrived that is complete. */
export type TakeReceived = () => Received | undefined;

/** Joins what has arrived with those who wait for it. Values are decoded when taken, not when they arrive. */
export class Inbox {
  readonly #waiting = new Fifo<(received: Received | undefined) => void>();
  readonly #take: TakeReceived;
  #ended = false;

  constructor(take: TakeReceived) {
    this.#take = take;
  }

  receive(): Promise<Received | undefined> {
    if (this.#waiting.length === 0) {
      const received = this.#take();
      if (received !== undefined || this.#ended) return Promise.resolve(received);
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Call when something has arrived. */
  wake(): void {
    while (this.#waiting.length > 0) {
      const received = this.#take();
      if (received === undefined) return;
      this.#waiting.shift()?.(received);
    }
  }

  /** Nothing more will arrive: `receive` answers undefined once everything was taken. */
  end(): void {
    this.#ended = true;
    this.wake();
    for (let resolve = this.#waiting.shift(); resolve !== undefined; resolve = this.#waiting.shift())
      resolve(undefined);
  }
}
