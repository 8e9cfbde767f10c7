import type { Channel } from "@codex/channel";
import { ExecServerClient, type LinkOptions } from "@codex/exec-server-client";
import type { ResourceLimits } from "@codex/executor-protocol";
import type { AttachedExecutor, ExecutorEnd, Orchestrator } from "@codex/orchestrator";
import { defined } from "@codex/values";
import type { EnvironmentLink } from "../links/link.js";

type Attacher = Pick<Orchestrator, "attach">;

export interface ExecutorSideOptions {
  /** Name under which the executor is attached. */
  id: string;
  link: EnvironmentLink;
  /** The channel over which the executor was found. */
  channel: Channel;
  /** Options of the client of its exec-server. */
  client: LinkOptions;
  /** Called when its channel was lost and another one is being opened. */
  onInterrupted?: () => void;
  onRestored?: () => void;
  /** Called when `end` may have changed. */
  onEnded?: () => void;
}

/**
 * A remote executor: its tools for an orchestrator, and its exec-server for programs. Both use one channel if an
 * orchestrator has attached it; otherwise programs have their own.
 */
export class ExecutorSide {
  readonly #options: ExecutorSideOptions;
  /** The channel over which the executor was found, until it is used. */
  #unused: Channel | undefined;
  #attached: AttachedExecutor | undefined;
  #end: ExecutorEnd | undefined;
  #runner: Promise<Attacher & { close(): Promise<void> }> | undefined;
  #attaching: Promise<AttachedExecutor> | undefined;
  #client: Promise<ExecServerClient> | undefined;

  constructor(options: ExecutorSideOptions) {
    this.#options = options;
    this.#unused = options.channel;
  }

  /** Attaches the executor. The first caller gets the existing channel; later ones, and reconnects, open another. @throws OrchestratorError */
  async attach(
    orchestrator: Attacher,
    given: { signal?: AbortSignal; resourceLimits?: ResourceLimits },
  ): Promise<AttachedExecutor> {
    const { id, link } = this.#options;
    const channel = this.#unused;
    this.#unused = undefined;
    let wasOpen = channel !== undefined;
    const reconnect = async (signal: AbortSignal) => {
      // `reconnect` may also open the first channel.
      const isLost = wasOpen;
      if (isLost) this.#options.onInterrupted?.();
      const opened = await link.open(signal);
      if (isLost) this.#options.onRestored?.();
      wasOpen = true;
      return opened.channel;
    };
    const attached = await orchestrator.attach({
      name: id,
      reconnect,
      ...defined({ channel }),
      ...given,
    });
    this.#attached = attached;
    this.#end = undefined;
    void attached.ended.then((end) => {
      if (this.#attached !== attached) return;
      this.#end = end;
      this.#options.onEnded?.();
    });
    return attached;
  }

  /**
   * Why the executor can no longer be used; undefined while it can. If only its orchestrator has detached it, programs continue over a
   * channel of their own.
   */
  get end(): ExecutorEnd | undefined {
    return this.#end?.isDetached === true && this.#client !== undefined ? undefined : this.#end;
  }

  /** The executor, attached to an orchestrator if there is one, else only for programs. @throws OrchestratorError */
  getExecutor(): Promise<AttachedExecutor> {
    if (this.#attached !== undefined && this.#attached.offlineReason === undefined)
      return Promise.resolve(this.#attached);
    this.#attaching ??= this.#attachOwn().finally(() => {
      this.#attaching = undefined;
    });
    return this.#attaching;
  }

  /** A client of its exec-server. @throws OrchestratorError `unsupported` if it has none */
  getClient(): Promise<ExecServerClient> {
    this.#client ??= this.#connectClient();
    const client = this.#client;
    client.catch(() => {
      if (this.#client === client) this.#client = undefined;
    });
    return client;
  }

  /** Ends the processes that programs have started. Never rejects. */
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
