import { EncodedResponse } from "@codex/channel";
import type { PacedChannel } from "./paced-channel.js";
import { onceEncoded, type Reserve, type ResponseMemory } from "./response-memory.js";

/**
 * A queue of requests whose responses may be large. They start in order, at most `width` run concurrently, and none starts
 * while the channel is above its high-water mark: a client that requests much and reads nothing costs little memory.
 */
export class PacedQueue {
  readonly #channel: PacedChannel;
  readonly #width: number;
  readonly #memory: ResponseMemory | undefined;
  #running = 0;
  #onFree: (() => void) | undefined;
  /** Resolves when the latest request has started. Never rejects. */
  #started: Promise<void> = Promise.resolve();

  constructor(channel: PacedChannel, width: number, memory?: ResponseMemory) {
    this.#channel = channel;
    this.#width = width;
    this.#memory = memory;
  }

  /** Rejects as `work` does, or when the channel has closed. */
  async run(work: (reserve: Reserve) => Promise<unknown>): Promise<unknown> {
    const start = this.#started.then(() => this.#enter()).then(() => this.#channel.waitForRoom());
    this.#started = start.catch(ignore);
    try {
      await start;
      const result = await (this.#memory === undefined ? work(reserveNothing) : this.#memory.run(work));
      if (result instanceof EncodedResponse) return onceEncoded(result, () => this.#leave());
      this.#leave();
      return result;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** At most one caller waits here: the others wait for it to start. */
  #enter(): Promise<void> | undefined {
    if (this.#running < this.#width) {
      this.#running += 1;
      return undefined;
    }
    return new Promise((resolve) => {
      this.#onFree = resolve;
    });
  }

  #leave(): void {
    const next = this.#onFree;
    this.#onFree = undefined;
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

const reserveNothing: Reserve = async () => {};

const ignore = (): void => {};
