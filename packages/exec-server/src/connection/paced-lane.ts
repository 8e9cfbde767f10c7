import { EncodedResponse, RpcError } from "@codex/channel";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import { BUDGET_WAIT_MS, UNCOUNTED_BYTES } from "../limits.js";
import type { ByteBudget } from "./byte-budget.js";
import type { PacedChannel } from "./paced-channel.js";

/** Bytes that answers may hold: of one connection, and of all of a server. */
export interface AnswerBudgets {
  own: ByteBudget;
  all: ByteBudget;
}

/**
 * Resolves when there is room for an answer of so many bytes, and the client has read most of what was sent before.
 * @throws RpcError -32603 when others hold what there is
 */
export type Reserve = (bytes: number) => Promise<void>;

/**
 * Requests whose answers may be large. They begin in the order of the calls, at most `width` of them are at work, and
 * none begins while the client has much to read: one that asks for much and reads nothing costs the memory of a few.
 */
export class PacedLane {
  readonly #channel: PacedChannel;
  readonly #width: number;
  readonly #budgets: AnswerBudgets | undefined;
  #atWork = 0;
  #onFree: (() => void) | undefined;
  /** Resolves when the last one has begun. Never rejects. */
  #begun: Promise<void> = Promise.resolve();

  constructor(channel: PacedChannel, width: number, budgets?: AnswerBudgets) {
    this.#channel = channel;
    this.#width = width;
    this.#budgets = budgets;
  }

  /** Rejects as `work` does, or when nobody is there to read the answer. */
  async run(work: (reserve: Reserve) => Promise<unknown>): Promise<unknown> {
    const releases: (() => void)[] = [];
    const begin = this.#begun.then(() => this.#enter()).then(() => this.#channel.room());
    this.#begun = begin.catch(ignore);
    try {
      await begin;
      const result = await work((bytes) => this.#reserve(bytes, releases));
      if (result instanceof EncodedResponse) return this.#leaveWhenSent(result, releases);
      this.#leave(releases);
      return result;
    } catch (error) {
      this.#leave(releases);
      throw error;
    }
  }

  async #reserve(bytes: number, releases: (() => void)[]): Promise<void> {
    if (this.#budgets === undefined || bytes <= UNCOUNTED_BYTES) return;
    const { own, all } = this.#budgets;
    const release = await own.take(bytes);
    if (release !== undefined) releases.push(release);
    await this.#channel.room();
    const releaseAll = await all.take(bytes, BUDGET_WAIT_MS);
    if (releaseAll === undefined) {
      const message = `an answer of ${bytes} bytes was not made: others hold what this server has for answers; try again`;
      throw new RpcError(ERROR_CODES.internal, message);
    }
    releases.push(releaseAll);
  }

  #leaveWhenSent({ encode }: EncodedResponse, releases: (() => void)[]): EncodedResponse {
    return new EncodedResponse((id) => {
      // The peer sends what this returns in the same turn: whoever is next sees how full the channel is then.
      queueMicrotask(() => this.#leave(releases));
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

  #leave(releases: readonly (() => void)[]): void {
    // What was sent is in memory until the client has read it.
    if (releases.length > 0) {
      const release = () => {
        for (const giveBack of releases) giveBack();
      };
      void this.#channel.room().then(release, release);
    }
    const next = this.#onFree;
    this.#onFree = undefined;
    if (next === undefined) this.#atWork -= 1;
    else next();
  }
}

const ignore = (): void => {};
