import type { Channel } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { ExecBackend } from "@codex/exec-backend";
import {
  type ExecServerClient,
  RemoteFileSystem,
  RemoteHttp,
  resolveRemotePath,
  toHostInfo,
  withDirectory,
} from "@codex/exec-server-client";
import type { HostInfo } from "@codex/executor-protocol";
import type { AttachedExecutor, Orchestrator } from "@codex/orchestrator";
import type { Telemetry } from "@codex/telemetry";
import type {
  Environment,
  EnvironmentFiles,
  EnvironmentHttp,
  EnvironmentInfo,
  EnvironmentKind,
  EnvironmentState,
  ServedProtocol,
} from "../environment.js";
import { EnvironmentError } from "../errors.js";
import { Connection } from "../life/connection.js";
import { toEnvironmentError } from "../life/reason.js";
import { StateBox } from "../life/state-box.js";
import { INITIALIZE_TIMEOUT_MS } from "../limits.js";
import type { EnvironmentLink } from "../links/link.js";
import { redactLink } from "../links/redact.js";
import { connectFar, type FarSide } from "./connect-far.js";
import { ExecutorSide } from "./executor-side.js";
import type { HostTools } from "./host.js";
import { createLazyBackend } from "./lazy-backend.js";

/** What an environment elsewhere is made of. */
export interface RemoteEnvironmentOptions {
  id: string;
  kind: EnvironmentKind;
  /** How it is reached. Owned: `close` of the environment closes it. */
  link: EnvironmentLink;
  /** Makes the tools in front of an exec-server; without it only an executor can be attached. */
  hostTools?: HostTools | undefined;
  /** Directory that `info` gives instead of the one of its server, for what starts without one: absolute, or `~` and a path below the home there. */
  cwd?: string | undefined;
  /** Milliseconds that it has to answer the handshake. Default 10000. */
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

/** Creates an environment behind a link: an exec-server or an executor, which the first connection finds out. */
export const createRemoteEnvironment = (options: RemoteEnvironmentOptions): Environment =>
  new RemoteEnvironment(options);

class RemoteEnvironment implements Environment {
  readonly id: string;
  readonly kind: EnvironmentKind;
  readonly backend: ExecBackend;
  readonly files: EnvironmentFiles;
  readonly http: EnvironmentHttp;
  readonly #options: RemoteEnvironmentOptions;
  readonly #box: StateBox;
  readonly #connection: Connection<FarSide>;
  #serves: ServedProtocol | undefined;
  #executor: { channel: Channel; side: ExecutorSide } | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: RemoteEnvironmentOptions) {
    const { id, kind, link, clock = systemClock, now = Date.now, random = Math.random, telemetry = {} } = options;
    this.id = id;
    this.kind = kind;
    this.#options = { ...options, link: redactLink(options.link) };
    this.#box = new StateBox(now);
    this.#connection = new Connection({
      id,
      box: this.#box,
      clock,
      random,
      open: (signal) => this.#open(signal),
      free: (far) => (far.serves === "exec-server" ? far.client.close() : far.channel.close()),
      secrets: link.secrets ?? [],
    });
    const getClient = () => this.#getClient();
    const calls: ConstructorParameters<typeof RemoteFileSystem>[0] = {
      call: async (method, params, callOptions) => (await getClient()).call(method, params, callOptions),
    };
    this.files = new RemoteFileSystem(calls);
    this.http = new RemoteHttp(calls);
    this.backend = createLazyBackend(getClient, telemetry);
  }

  get state(): EnvironmentState {
    this.#dropOffline();
    return this.#box.state;
  }

  get serves(): ServedProtocol | undefined {
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

  async attach(
    orchestrator: Pick<Orchestrator, "attach">,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<AttachedExecutor> {
    const far = await this.#connect(signal);
    const given = signal === undefined ? {} : { signal };
    if (far.serves === "executor") return this.#sideOf(far.channel).attach(orchestrator, given);
    const { hostTools, telemetry = {} } = this.#options;
    if (hostTools === undefined) {
      throw this.#unsupported("it is an exec-server, and there is no executor in this process to make its tools");
    }
    const channel = hostTools({
      createBackend: () => createLazyBackend(() => this.#getClient(), telemetry),
      host: await this.#getHost(far),
      resolvePath: (path) => resolveRemotePath(this.files, path),
    });
    return orchestrator.attach({ name: this.id, channel, ...given });
  }

  async #getHost(far: FarSide): Promise<HostInfo> {
    const { cwd } = this.#options;
    if (far.serves === "exec-server") return withDirectory(toHostInfo(await far.client.environment.describe()), cwd);
    const { host } = await this.#sideOf(far.channel)
      .getExecutor()
      .catch((error: unknown) => Promise.reject(this.#toError(error)));
    if (host === undefined) throw this.#unsupported("it is an executor that does not describe its host");
    return withDirectory(host, cwd);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.backend.close();
    await this.#executor?.side.close();
    await this.#connection.close();
    await this.#options.link.close?.();
  }

  async #open(signal: AbortSignal): Promise<FarSide> {
    const { link, clock = systemClock, initializeTimeoutMs = INITIALIZE_TIMEOUT_MS, recoveryWindowMs } = this.#options;
    const { random, telemetry } = this.#options;
    const far: FarSide = await connectFar(
      link,
      {
        initializeTimeoutMs,
        clock,
        telemetry,
        ...(recoveryWindowMs === undefined ? {} : { recoveryWindowMs }),
        ...(random === undefined ? {} : { random }),
        onInterrupted: () => this.#box.set("reconnecting", "the connection was lost"),
        onResumed: () => this.#box.set("ready"),
        onLost: (reason) => this.#connection.lose(far, toEnvironmentError(this.id, reason, link.secrets ?? []).reason),
      },
      signal,
    );
    this.#serves = far.serves;
    return far;
  }

  async #connect(signal?: AbortSignal): Promise<FarSide> {
    this.#dropOffline();
    return this.#connection.get(signal);
  }

  /** An executor that was not reached again is connected anew at the next use. */
  #dropOffline(): void {
    const { far } = this.#connection;
    const reason = this.#executor?.side.offlineReason;
    if (far?.serves !== "executor" || this.#executor?.channel !== far.channel || reason === undefined) return;
    const { side } = this.#executor;
    this.#executor = undefined;
    void side.close();
    this.#connection.lose(far, toEnvironmentError(this.id, new Error(reason), this.#options.link.secrets ?? []).reason);
  }

  async #getClient(): Promise<ExecServerClient> {
    const far = await this.#connect();
    if (far.serves === "exec-server") return far.client;
    try {
      return await this.#sideOf(far.channel).getClient();
    } catch (error) {
      throw this.#toError(error);
    }
  }

  #sideOf(channel: Channel): ExecutorSide {
    if (this.#executor?.channel !== channel) {
      const { id, link, telemetry, clock = systemClock, random } = this.#options;
      const client = { telemetry, clock, ...(random === undefined ? {} : { random }) };
      this.#executor = {
        channel,
        side: new ExecutorSide({
          id,
          link,
          channel,
          client,
          onInterrupted: () => this.#box.set("reconnecting", "the connection was lost"),
          onRestored: () => this.#box.set("ready"),
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
