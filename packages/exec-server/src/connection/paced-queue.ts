import { EncodedResponse, RpcError } from "@codex/channel";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import { BUDGET_WAIT_MS, UNBUDGETED_BYTES } from "../limits.js";
import type { ByteBudget } from "./byte-budget.js";
import type { PacedChannel } from "./paced-channel.js";

/** Memory for responses: of one connection, and of the whole server. */
export interface ResponseBudgets {
  connection: ByteBudget;
  total: ByteBudget;
}

/**
 * Reserves memory for a response of this size; resolves when the budgets and the channel have room.
 * @throws RpcError -32603 when the total budget stays exhausted
 */
export type Reserve = (bytes: number) => Promise<void>;

/**
 * A queue of requests whose responses may be large. They start in order, at most `width` run concurrently, and none starts
 * while the channel is above its high-water mark: a client that requests much and reads nothing costs little memory.
 */
export class PacedQueue {
  readonly #channel: PacedChannel;
  readonly #width: number;
  readonly #budgets: ResponseBudgets | undefined;
  #running = 0;
  #onFree: (() => void) | undefined;
  /** Resolves when the latest request has started. Never rejects. */
  #started: Promise<void> = Promise.resolve();

  constructor(channel: PacedChannel, width: number, budgets?: ResponseBudgets) {
    this.#channel = channel;
    this.#width = width;
    this.#budgets = budgets;
  }

  /** Rejects as `work` does, or when the channel has closed. */
  async run(work: (reserve: Reserve) => Promise<unknown>): Promise<unknown> {
    const releases: (() => void)[] = [];
    const start = this.#started.then(() => this.#enter()).then(() => this.#channel.waitForRoom());
    this.#started = start.catch(ignore);
    try {
      await start;
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
    if (this.#budgets === undefined || bytes <= UNBUDGETED_BYTES) return;
    const { connection, total } = this.#budgets;
    const release = await connection.take(bytes);
    if (release !== undefined) releases.push(release);
    await this.#channel.waitForRoom();
    const releaseTotal = await total.take(bytes, BUDGET_WAIT_MS);
    if (releaseTotal === undefined) {
      const message = `a response of ${bytes} bytes was not created: responses to other requests use all memory that this server has for responses; try again`;
      throw new RpcError(ERROR_CODES.internal, message);
    }
    releases.push(releaseTotal);
  }

  #leaveWhenSent({ encode }: EncodedResponse, releases: (() => void)[]): EncodedResponse {
    return new EncodedResponse((id) => {
      // The peer sends the result in the same turn, so the next request sees how full the channel is then.
      queueMicrotask(() => this.#leave(releases));
      return encode(id);
    });
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

  #leave(releases: readonly (() => void)[]): void {
    // The response stays in memory until it was sent.
    if (releases.length > 0) {
      const releaseAll = () => {
        for (const release of releases) release();
      };
      void this.#channel.waitForRoom().then(releaseAll, releaseAll);
    }
    const next = this.#onFree;
    this.#onFree = undefined;
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

const ignore = (): void => {};
