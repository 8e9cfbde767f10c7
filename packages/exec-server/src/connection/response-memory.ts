import { EncodedResponse, RpcError } from "@codex/channel";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import { UNBUDGETED_BYTES } from "../limits.js";
import type { ByteBudget } from "./byte-budget.js";
import type { PacedChannel } from "./paced-channel.js";

/** Memory for responses: of one connection, and of the whole server. */
export interface ResponseBudgets {
  connection: ByteBudget;
  total: ByteBudget;
  /** Milliseconds that a response waits for the total budget; undefined for no limit. */
  totalWaitMs?: number;
}

/**
 * Reserves memory for a response of this size, once for each response; resolves when the budgets and the channel have room, or when
 * `signal` aborts.
 * @throws RpcError -32603 when the total budget stays exhausted
 */
export type Reserve = (bytes: number, signal?: AbortSignal) => Promise<void>;

/** The memory of the large responses of one connection: reserved before they are created, and free again once they were sent. */
export class ResponseMemory {
  readonly #channel: PacedChannel;
  readonly #budgets: ResponseBudgets;

  constructor(channel: PacedChannel, budgets: ResponseBudgets) {
    this.#channel = channel;
    this.#budgets = budgets;
  }

  /** Rejects as `work` does. */
  async run(work: (reserve: Reserve) => Promise<unknown>): Promise<unknown> {
    const releases: (() => void)[] = [];
    try {
      const result = await work((bytes, signal) => this.#reserve(bytes, releases, signal));
      if (result instanceof EncodedResponse) return onceEncoded(result, () => this.#release(releases));
      this.#release(releases);
      return result;
    } catch (error) {
      this.#release(releases);
      throw error;
    }
  }

  async #reserve(bytes: number, releases: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
    if (bytes <= UNBUDGETED_BYTES) return;
    const { connection, total, totalWaitMs } = this.#budgets;
    const release = await connection.take(bytes, { signal });
    if (release === undefined) return;
    releases.push(release);
    await unlessAborted(this.#channel.waitForRoom(), signal);
    if (signal?.aborted) return release();
    const releaseTotal = await total.take(bytes, { waitMs: totalWaitMs, signal });
    if (releaseTotal !== undefined) releases.push(releaseTotal);
    else if (!signal?.aborted) {
      const message = `a response of ${bytes} bytes was not created: responses to other requests use all memory that this server has for responses; try again`;
      throw new RpcError(ERROR_CODES.internal, message);
    }
  }

  /** The response stays in memory until it was sent. */
  #release(releases: readonly (() => void)[]): void {
    if (releases.length === 0) return;
    const releaseAll = () => {
      for (const release of releases) release();
    };
    void this.#channel.waitForRoom().then(releaseAll, releaseAll);
  }
}

/** Resolves also when `signal` aborts. */
function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Calls `then` in the turn in which the peer sends the response, so that the channel is then as full as it makes it. */
export const onceEncoded = ({ encode }: EncodedResponse, then: () => void): EncodedResponse =>
  new EncodedResponse((id) => {
    queueMicrotask(then);
    return encode(id);
  });
