import type { Channel } from "@codex/channel";
import { ExecServerClient, type LinkOptions } from "@codex/exec-server-client";
import type { AttachedExecutor, Orchestrator } from "@codex/orchestrator";
import type { EnvironmentLink } from "../links/link.js";

type Attacher = Pick<Orchestrator, "attach">;

export interface ExecutorSideOptions {
  /** Name under which it is attached. */
  id: string;
  link: EnvironmentLink;
  /** The channel over which it was found. */
  channel: Channel;
  /** For the client of the exec-server beside it. */
  client: LinkOptions;
  /** A channel of it was lost, and another one is being opened. */
  onInterrupted?: () => void;
  onRestored?: () => void;
}

/**
 * An executor: its tools for an orchestrator, and the exec-server beside it for programs. Both use one channel where an
 * orchestrator has it attached; else programs have one of their own.
 */
export class ExecutorSide {
  readonly #options: ExecutorSideOptions;
  /** The channel over which it was found, until somebody has it. */
  #unused: Channel | undefined;
  #attached: AttachedExecutor | undefined;
  #runner: Promise<Attacher & { close(): Promise<void> }> | undefined;
  #attaching: Promise<AttachedExecutor> | undefined;
  #client: Promise<ExecServerClient> | undefined;

  constructor(options: ExecutorSideOptions) {
    this.#options = options;
    this.#unused = options.channel;
  }

  /** One channel serves one orchestrator: it is given away, and what loses it opens another one. @throws OrchestratorError */
  async attach(orchestrator: Attacher, given: { signal?: AbortSignal }): Promise<AttachedExecutor> {
    const { id, link } = this.#options;
    const channel = this.#unused;
    this.#unused = undefined;
    const reconnect = async (signal: AbortSignal) => {
      // The first channel may be opened by it as well.
      const isLost = this.#attached !== undefined;
      if (isLost) this.#options.onInterrupted?.();
      const opened = await link.open(signal);
      if (isLost) this.#options.onRestored?.();
      return opened.channel;
    };
    this.#attached = await orchestrator.attach({
      name: id,
      reconnect,
      ...(channel === undefined ? {} : { channel }),
      ...given,
    });
    return this.#attached;
  }

  /** Why it cannot be used any more; undefined while it can. */
  get offlineReason(): string | undefined {
    return this.#attached?.offlineReason;
  }

  /** It, attached to an orchestrator or else for programs alone. @throws OrchestratorError */
  getExecutor(): Promise<AttachedExecutor> {
    if (this.#attached !== undefined && this.#attached.offlineReason === undefined)
      return Promise.resolve(this.#attached);
    this.#attaching ??= this.#attachOwn().finally(() => {
      this.#attaching = undefined;
    });
    return this.#attaching;
  }

  /** A client of the exec-server beside it. @throws OrchestratorError `unsupported` where there is none */
  getClient(): Promise<ExecServerClient> {
    this.#client ??= this.#connectClient();
    const client = this.#client;
    client.catch(() => {
      if (this.#client === client) this.#client = undefined;
    });
    return client;
  }

  /** Ends what programs have started. Never rejects. */
  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
    const runner = await this.#runner?.catch(() => undefined);
    await runner?.close();
    await this.#unused?.close();
  }

  async #attachOwn(): Promise<AttachedExecutor> {
    // Loaded on demand: most executors are attached to an orchestrator.
    this.#runner ??= import("@codex/orchestrator").then(({ createProgramRunner }) => createProgramRunner());
    return this.attach(await this.#runner, {});
  }

  #connectClient(): Promise<ExecServerClient> {
    const open = async (signal: AbortSignal) => (await this.getExecutor()).openExecServer({ signal });
    return ExecServerClient.connect({ canReopen: true, open }, this.#options.client);
  }
}
