import type { Channel } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { ExecBackend } from "@codex/exec-backend";
import type { HostInfo } from "@codex/executor-protocol";
import { describeFault, type Telemetry } from "@codex/telemetry";
import { type CeilingOptions, createCeilingGuard, type ReachPaths, type ResolvePath } from "./admission/ceiling.js";
import { Connection } from "./connections/connection.js";
import { Connections } from "./connections/connections.js";
import { type Attachment, receiveMessages } from "./connections/loop.js";
import type { CreateExecServer, ExecServerOffer } from "./connections/tunnels.js";
import { createExecutorTelemetry, type ExecutorTelemetry } from "./executor-telemetry.js";
import { getHostInfo } from "./host/host-info.js";
import { createRandomIds, type Ids } from "./ids.js";
import {
  DEFAULT_RESUME_GRACE_MS,
  DRAIN_GRACE_MS,
  DRAIN_POLL_MS,
  type ExecutorLimits,
  resolveLimits,
} from "./limits.js";
import type { UnifiedExec } from "./sessions/unified-exec.js";
import type { SessionTool } from "./tools/session-tool.js";
import { SESSION_TOOLS } from "./tools/session-tools.js";
import { createToolRegistry, type ExecutorTool, type ToolRegistry } from "./tools/tool-registry.js";

/** Options of `createExecutor`; only `backend` is required. */
export interface ExecutorOptions {
  /**
   * Where processes run. A backend is owned by the caller: close it after the last `serve` has ended. A function creates one for
   * each orchestrator, closed with its connection: then no process outlives the connection, not even one that an ended session
   * left running.
   */
  backend: ExecBackend | (() => ExecBackend);
  /** False: only `tools` are offered, no tools for commands and sessions. Default true. */
  sessionTools?: boolean;
  /** Additional tools. */
  tools?: readonly ExecutorTool[];
  /** The host as `initialize` describes it; default: the host of this process. */
  host?: HostInfo;
  /** The executor's own environment, the base of an `envPolicy`; default: of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The most that any command may do here, whatever an orchestrator sends. Default: unlimited. */
  ceiling?: CeilingOptions;
  /** Resolves links in paths for the ceiling; required if commands run on another host. Default: resolves on this host. */
  resolvePath?: ResolvePath;
  /** Keeps requests on a mount that does not answer from taking the threads that others need; `reach` of `@codex/native`. */
  reachPaths?: ReachPaths;
  /**
   * Creates an exec-server (files, HTTP and processes of the same host) for an orchestrator that requests it; called once for
   * each. Not offered if a ceiling restricts the executor, which an exec-server would not enforce. Default: no exec-server.
   */
  execServer?: CreateExecServer;
  limits?: Partial<ExecutorLimits>;
  /** How long calls and sessions can be resumed after a channel was lost, milliseconds; default 30000, 0: not at all. */
  resumeGraceMs?: number;
  /** Default: `createRandomIds()`. */
  ids?: Ids;
  /** Default: `systemClock` of `@codex/clock`. */
  clock?: Clock;
  /** Logs, metrics and spans, also of events that are not sent to orchestrators, such as an exception of a tool. */
  telemetry?: Telemetry;
}

/** A running tool host: serves orchestrators over channels, each with sessions of its own. Created by `createExecutor`. */
export interface Executor extends AsyncDisposable {
  /** The additional tools; changes are announced to orchestrators that sent `initialize`. */
  readonly tools: ToolRegistry;
  /**
   * Serves one orchestrator until it sends `shutdown`, or its channel ends and it does not resume; then ends all of its sessions.
   * Closes the channel. Never rejects. Each orchestrator has sessions of its own.
   */
  serve(channel: Channel, options?: ServeOptions): Promise<void>;
  /** Number of connected orchestrators, including those that may still resume. */
  readonly orchestratorCount: number;
  /**
   * Ends the executor as one that is asked to: serves no other orchestrator and starts nothing more, ends the programs (SIGTERM, after
   * 2 s SIGKILL), sends their last output and how they ended, then closes the channels. Idempotent; never rejects. `close` meanwhile ends
   * everything immediately.
   * @param options `waitMs`: programs have so long to end by themselves first; meanwhile orchestrators may come back. Default 0
   */
  drain(options?: { waitMs?: number }): Promise<void>;
  /** Ends the calls and sessions of all orchestrators immediately, also of those that may resume. Idempotent; never rejects. `await using` calls it. */
  close(): Promise<void>;
}

/** Options of `Executor.serve` for one channel. */
export interface ServeOptions {
  /**
   * Whether the orchestrator may resume over another channel. False: its calls and sessions end with this channel. Default
   * true, which requires `resumeGraceMs` and an orchestrator that has sent `initialize`.
   */
  resumable?: boolean;
}

/**
 * @throws RangeError for an invalid limit or grace, or a root that is not an absolute path
 * @throws Error for two tools with the same name
 */
export function createExecutor(options: ExecutorOptions): Executor {
  const limits = resolveLimits(options.limits);
  const graceMs = checkGrace(options.resumeGraceMs ?? DEFAULT_RESUME_GRACE_MS);
  const sessionTools = options.sessionTools === false ? NO_TOOLS : SESSION_TOOLS;
  const tools = createToolRegistry(new Set(sessionTools.keys()));
  for (const tool of options.tools ?? []) tools.add(tool);
  const env = options.env ?? process.env;
  const { ceiling, resolvePath } = options;
  // The temporary directory of another host is not known.
  const temporaryDirectories = resolvePath === undefined && env.TMPDIR?.startsWith("/") ? [env.TMPDIR] : [];
  const telemetry = createExecutorTelemetry(options.telemetry ?? {}, sessionTools.keys());
  const clock = options.clock ?? systemClock;
  const connections = new Connections({ clock, maxLost: limits.lostChannels, telemetry });
  const shared = {
    backend: options.backend,
    sessionTools,
    registry: tools,
    env,
    ceiling: ceiling && createCeilingGuard(ceiling, temporaryDirectories, resolvePath, options.reachPaths),
    limits,
    ids: options.ids ?? createRandomIds(),
    clock,
    getHost: () => options.host ?? getHostInfo(env),
    telemetry,
    execServer: offerExecServer(options),
    all: new Set<UnifiedExec>(),
    leaving: new Set<Promise<void>>(),
  };
  telemetry.observeSessions(() => countRunning(shared.all));
  let state: State = "open";
  let draining: Promise<void> | undefined;
  const open = (channel: Channel, isResumable: boolean) => {
    const connection = new Connection(channel, { ...shared, graceMs: isResumable ? graceMs : 0, stays: isResumable });
    connections.add(connection);
    return connection;
  };
  const drain = async (waitMs: number) => {
    if (waitMs > 0 && state === "open") {
      state = "draining";
      const until = clock.now() + waitMs;
      const tunnels = connections.refuseStarts(waitMs);
      while (countRunning(shared.all) > 0 && clock.now() < until && getState() === "draining") {
        await new Promise<void>((resolve) => clock.after(DRAIN_POLL_MS, resolve));
      }
      await tunnels;
    }
    state = "closed";
    await Promise.all([endDetached(), connections.drainAll()]);
    // What was detached meanwhile.
    await endDetached();
  };
  /** What orchestrators that are gone have left to run. */
  const endDetached = async () => {
    const left = [...shared.all].filter(({ orchestratorIsGone }) => orchestratorIsGone);
    await Promise.all(left.map((unifiedExec) => unifiedExec.close(undefined, DRAIN_GRACE_MS)));
    await Promise.all(shared.leaving);
  };
  const getState = () => state;
  const context: ServeContext = {
    connections,
    open,
    sessionTools,
    registry: tools,
    telemetry,
    getState,
  };
  return {
    tools,
    get orchestratorCount() {
      return connections.count;
    },
    serve: (channel, { resumable = true } = {}) =>
      state === "closed" ? channel.close() : serveChannel(channel, resumable, context),
    drain({ waitMs = 0 } = {}) {
      draining ??= drain(waitMs);
      return draining;
    },
    close() {
      state = "closed";
      return connections.endAll().then(endDetached);
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

const NO_TOOLS: ReadonlyMap<string, SessionTool> = new Map();

function offerExecServer({ execServer, ceiling }: ExecutorOptions): ExecServerOffer {
  if (execServer === undefined) return { refusal: "this executor offers tools only: it has no exec-server" };
  const { mode = "danger-full-access", roots = [], network = mode === "danger-full-access" } = ceiling ?? {};
  if (mode === "danger-full-access" && roots.length === 0 && network) return { create: execServer };
  return { refusal: "this executor offers tools only: it has a ceiling, which an exec-server would not enforce" };
}

const countRunning = (all: ReadonlySet<UnifiedExec>): number =>
  Array.from(all, ({ table }) => table.list().filter(({ state }) => state.outcome.kind === "running").length).reduce(
    (total, count) => total + count,
    0,
  );

function checkGrace(ms: number): number {
  if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw new RangeError(`resumeGraceMs must be an integer of at least 0 milliseconds, got ${ms}`);
}

/** While draining, no other orchestrator is served, but those that lost their channel may come back. */
type State = "open" | "draining" | "closed";

interface ServeContext {
  connections: Connections;
  open: (channel: Channel, isResumable: boolean) => Connection;
  sessionTools: ReadonlyMap<string, SessionTool>;
  registry: ToolRegistry;
  telemetry: ExecutorTelemetry;
  getState: () => State;
}

async function serveChannel(channel: Channel, isResumable: boolean, context: ServeContext): Promise<void> {
  const { connections, sessionTools, registry, telemetry, getState } = context;
  const attachment: Attachment = {
    channel,
    connection: undefined,
    sessionTools,
    registry,
    open: () => (getState() === "open" ? context.open(channel, isResumable) : undefined),
    find: (id) => connections.find(id),
    reclaim: (connection) => connections.reclaim(connection),
    telemetry,
  };
  let end: "shut down" | "lost" = "lost";
  try {
    end = await receiveMessages(attachment);
  } catch (error) {
    telemetry.log.error?.("the receive loop failed", describeFault(error)); // a defect of this package: the connection is ended anyway
    end = "shut down";
  }
  const { connection } = attachment;
  // A connection that was resumed over another channel belongs to that channel.
  if (connection?.outbox.isLatest(channel)) {
    if (end === "lost" && connection.isResumable && getState() !== "closed") {
      connection.detach(channel);
      void channel.close();
      await connections.keep(connection);
    } else {
      await connections.end(connection);
    }
  }
  await channel.close();
}
