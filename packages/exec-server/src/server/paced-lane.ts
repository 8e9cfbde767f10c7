import { EncodedResponse } from "@codex/channel";
import type { PacedChannel } from "./paced-channel.js";

/**
 * Requests whose answers may be large. They begin in the order of the calls, at most `width` of them are at work, and
 * none begins while the client has much to read: one that asks for much and reads nothing costs the memory of a few.
 */
export class PacedLane {
  readonly #channel: PacedChannel;
  readonly #width: number;
  #atWork = 0;
  #onFree: (() => void) | undefined;
  /** Resolves when the last one has begun. Never rejects. */
  #begun: Promise<void> = Promise.resolve();

  constructor(channel: PacedChannel, width: number) {
    this.#channel = channel;
    this.#width = width;
  }

  /** Rejects as `work` does, or when nobody is there to read the answer. */
  async run(work: () => Promise<unknown>): Promise<unknown> {
    const begin = this.#begun.then(() => this.#enter()).then(() => this.#channel.room());
    this.#begun = begin.catch(ignore);
    try {
      await begin;
      const result = await work();
      if (result instanceof EncodedResponse) return this.#leaveWhenSent(result);
      this.#leave();
      return result;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  #leaveWhenSent({ encode }: EncodedResponse): EncodedResponse {
    return new EncodedResponse((id) => {
      // The peer sends what this returns in the same turn: whoever is next sees how full the channel is then.
      queueMicrotask(() => this.#leave());
      return encode(id);
    });
  }

  /** One at a time waits: the others wait for it to begin. */
  #enter(): Promise<void> | undefined {
    if (this.#atWork < this.#width) {
      this.#atWork += 1;
      return undefined;
    }
    return new Promise((resolve) => {
      this.#onFree = resolve;
    });
  }

  #leave(): void {
    const next = this.#onFree;
    this.#onFree = undefined;
    if (next === undefined) this.#atWork -= 1;
    else next();
  }
}

const ignore = (): void => {};
