import type { Channel } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { ExecBackend } from "@codex/exec-backend";
import {
  type ExecServerClient,
  RemoteFileSystem,
  resolveRemotePath,
  toHostInfo,
  withDirectory,
} from "@codex/exec-server-client";
import type { HostInfo, ResourceLimits } from "@codex/executor-protocol";
import type { AttachedExecutor, Orchestrator } from "@codex/orchestrator";
import type { Telemetry } from "@codex/telemetry";
import { defined } from "@codex/values";
import type { Environment, EnvironmentInfo, EnvironmentKind, EnvironmentState } from "../environment.js";
import { EnvironmentError } from "../errors.js";
import { AttachedExecutors } from "../life/attached-executors.js";
import { Connection } from "../life/connection.js";
import { toEnvironmentError } from "../life/reason.js";
import { StateBox } from "../life/state-box.js";
import { INITIALIZE_TIMEOUT_MS } from "../limits.js";
import type { EnvironmentLink } from "../links/link.js";
import { redactLink } from "../links/redact.js";
import { openUntil } from "../links/until-closed.js";
import { connectRemote, type RemoteSide } from "./connect-remote.js";
import { ExecutorSide } from "./executor-side.js";
import type { HostTools } from "./host.js";
import { createLazyBackend } from "./lazy-backend.js";
import { createLazyHttp } from "./lazy-http.js";

/** Options of `createRemoteEnvironment`. */
export interface RemoteEnvironmentOptions {
  id: string;
  kind: EnvironmentKind;
  /** How it is reached. Owned by the environment, whose `close` closes it. */
  link: EnvironmentLink;
  /** What each command there may use, besides what the orchestrator says; one that cannot be held there is refused. */
  resourceLimits?: ResourceLimits | undefined;
  /** Provides the tools for an exec-server: `createHostTools()` of `@codex/executor`. Without it only an executor can be attached. */
  hostTools?: HostTools | undefined;
  /** Default directory that `info` reports instead of the server's: absolute, or `~` and a path below the home there. */
  cwd?: string | undefined;
  /** Milliseconds for the handshake. Default 10000. */
  initializeTimeoutMs?: number | undefined;
  /** Milliseconds within which a lost connection can be resumed. Default 45000. */
  recoveryWindowMs?: number | undefined;
  clock?: Clock;
  /** Milliseconds since the epoch; default `Date.now`. */
  now?: () => number;
  /** Returns 0 to 1; default `Math.random`. */
  random?: () => number;
  telemetry?: Telemetry | undefined;
}

/** Creates an environment behind a link: an exec-server or an executor, as detected by the first connection. */
export const createRemoteEnvironment = (options: RemoteEnvironmentOptions): Environment =>
  new RemoteEnvironment(options);

class RemoteEnvironment implements Environment {
  readonly id: string;
  readonly kind: EnvironmentKind;
  readonly backend: ExecBackend;
  readonly files: Environment["files"];
  readonly http: Environment["http"];
  readonly #options: RemoteEnvironmentOptions;
  readonly #box: StateBox;
  readonly #connection: Connection<RemoteSide>;
  readonly #attached: AttachedExecutors;
  #serves: Environment["serves"];
  #executor: { channel: Channel; side: ExecutorSide } | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: RemoteEnvironmentOptions) {
    const { id, kind, link, clock = systemClock, now = Date.now, random = Math.random, telemetry = {} } = options;
    this.id = id;
    this.kind = kind;
    this.#attached = new AttachedExecutors(id);
    this.#options = { ...options, link: openUntil(redactLink(options.link), this.#attached.closing, clock) };
    this.#box = new StateBox(now);
    this.#connection = new Connection({
      id,
      box: this.#box,
      clock,
      random,
      open: (signal) => this.#open(signal),
      free: (remote) => (remote.serves === "exec-server" ? remote.client.close() : remote.channel.close()),
      secrets: link.secrets ?? [],
    });
    const getClient = () => this.#getClient();
    const calls: ConstructorParameters<typeof RemoteFileSystem>[0] = {
      call: async (method, params, callOptions) => (await getClient()).call(method, params, callOptions),
    };
    this.files = new RemoteFileSystem(calls);
    this.http = createLazyHttp(getClient);
    this.backend = createLazyBackend(getClient, telemetry);
  }

  get state(): EnvironmentState {
    this.#dropOffline();
    return this.#box.state;
  }

  get serves(): Environment["serves"] {
    return this.#serves;
  }

  onStateChange(listener: (state: EnvironmentState) => void): () => void {
    return this.#box.listen(listener);
  }

  async connect({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#connect(signal);
  }

  async info(): Promise<EnvironmentInfo> {
    const { os, shell, cwd, home } = await this.#getHost(await this.#connect());
    return { os, shell, cwd, home };
  }

  attach(
    orchestrator: Pick<Orchestrator, "attach">,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<AttachedExecutor> {
    return this.#attached.add(signal, (over) => this.#attach(orchestrator, over));
  }

  async #attach(orchestrator: Pick<Orchestrator, "attach">, signal: AbortSignal): Promise<AttachedExecutor> {
    const remote = await this.#connect(signal);
    const { hostTools, telemetry = {}, resourceLimits } = this.#options;
    const given = { signal, ...defined({ resourceLimits }) };
    if (remote.serves === "executor") return this.#sideOf(remote.channel).attach(orchestrator, given);
    if (hostTools === undefined) {
      throw this.#unsupported(
        "it is an exec-server, which has no tools; the option `hostTools` of its environment provides them",
      );
    }
    const channel = hostTools({
      createBackend: () => createLazyBackend(() => this.#getClient(), telemetry),
      host: await this.#getHost(remote),
      resolvePath: (path) => resolveRemotePath(this.files, path),
    });
    // Its executor is in this process, and says nothing about the connection.
    return orchestrator.attach({ name: this.id, channel, ...given, getState: () => this.#box.state });
  }

  async #getHost(remote: RemoteSide): Promise<HostInfo> {
    const { cwd } = this.#options;
    if (remote.serves === "exec-server")
      return withDirectory(toHostInfo(await remote.client.environment.describe()), cwd);
    const { host } = await this.#sideOf(remote.channel)
      .getExecutor()
      .catch((error: unknown) => Promise.reject(this.#toError(error)));
    if (host === undefined) throw this.#unsupported("it is an executor that does not describe its host");
    return withDirectory(host, cwd);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#attached.refuse();
    await this.backend.close();
    await this.#executor?.side.close();
    await this.#attached.close();
    await this.#connection.close();
    await this.#options.link.close?.();
  }

  async #open(signal: AbortSignal): Promise<RemoteSide> {
    const { link, clock = systemClock, initializeTimeoutMs = INITIALIZE_TIMEOUT_MS, recoveryWindowMs } = this.#options;
    const { random, telemetry } = this.#options;
    const remote: RemoteSide = await connectRemote(
      link,
      {
        initializeTimeoutMs,
        serverName: `environment \`${this.id}\``,
        clock,
        telemetry,
        ...defined({ recoveryWindowMs, random }),
        onInterrupted: () => this.#box.set("reconnecting", "the connection was lost"),
        onResumed: () => this.#box.set("ready"),
        onLost: (reason) =>
          this.#connection.lose(remote, toEnvironmentError(this.id, reason, link.secrets ?? []).reason),
      },
      signal,
    );
    this.#serves = remote.serves;
    return remote;
  }

  async #connect(signal?: AbortSignal): Promise<RemoteSide> {
    this.#dropOffline();
    return this.#connection.get(signal);
  }

  /** Drops an executor that has ended; the next use connects again. */
  #dropOffline(): void {
    const { remote } = this.#connection;
    const end = this.#executor?.side.end;
    if (remote?.serves !== "executor" || this.#executor?.channel !== remote.channel || end === undefined) return;
    const { side } = this.#executor;
    this.#executor = undefined;
    void side.close();
    const { secrets = [] } = this.#options.link;
    const reason = end.isDetached ? undefined : toEnvironmentError(this.id, new Error(end.reason), secrets).reason;
    this.#connection.lose(remote, reason);
  }

  async #getClient(): Promise<ExecServerClient> {
    const remote = await this.#connect();
    if (remote.serves === "exec-server") return remote.client;
    try {
      return await this.#sideOf(remote.channel).getClient();
    } catch (error) {
      throw this.#toError(error);
    }
  }

  #sideOf(channel: Channel): ExecutorSide {
    if (this.#executor?.channel !== channel) {
      const { id, link, telemetry, clock = systemClock, random } = this.#options;
      const client = {
        serverName: `environment \`${id}\``,
        telemetry,
        clock,
        ...defined({ random }),
      };
      this.#executor = {
        channel,
        side: new ExecutorSide({
          id,
          link,
          channel,
          client,
          onInterrupted: () => this.#box.set("reconnecting", "the connection was lost"),
          onRestored: () => this.#box.set("ready"),
          onEnded: () => this.#dropOffline(),
        }),
      };
    }
    return this.#executor.side;
  }

  #toError(error: unknown): unknown {
    const isUnsupported = error instanceof Error && "code" in error && error.code === "unsupported";
    return isUnsupported
      ? this.#unsupported(error.message)
      : toEnvironmentError(this.id, error, this.#options.link.secrets ?? []);
  }

  #unsupported(reason: string): EnvironmentError {
    return new EnvironmentError("unsupported", this.id, reason);
  }
}
