import type { Channel } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { ExecBackend } from "@codex/exec-backend";
import type { HostInfo } from "@codex/executor-protocol";
import { describeFault, type Telemetry } from "@codex/telemetry";
import { type CeilingOptions, createCeilingGuard, type ResolvePath } from "./admission/ceiling.js";
import { Connection } from "./connections/connection.js";
import { Connections } from "./connections/connections.js";
import { type Attachment, receiveMessages } from "./connections/loop.js";
import type { CreateExecServer, ExecServerOffer } from "./connections/tunnels.js";
import { createExecutorTelemetry, type ExecutorTelemetry } from "./executor-telemetry.js";
import { getHostInfo } from "./host/host-info.js";
import { createRandomIds, type Ids } from "./ids.js";
import { DEFAULT_RESUME_GRACE_MS, type ExecutorLimits, resolveLimits } from "./limits.js";
import type { UnifiedExec } from "./sessions/unified-exec.js";
import type { SessionTool } from "./tools/session-tool.js";
import { SESSION_TOOLS } from "./tools/session-tools.js";
import { createToolRegistry, type ExecutorTool, type ToolRegistry } from "./tools/tool-registry.js";

/** What `createExecutor` is made of; only `backend` is required. */
export interface ExecutorOptions {
  /**
   * Where processes run. One that is handed in stays the caller's: close it after the last `serve` has ended. A function
   * makes one for each orchestrator, closed with its channel: then nothing outlives the channel, not even what a
   * session that has ended left running.
   */
  backend: ExecBackend | (() => ExecBackend);
  /** False: only `tools` are offered, none for commands and sessions. Default true. */
  sessionTools?: boolean;
  /** Tools besides those for commands and sessions. */
  tools?: readonly ExecutorTool[];
  /** The host as `initialize` describes it; default: the host of this process. */
  host?: HostInfo;
  /** The executor's own environment, the base of an `envPolicy`; default: of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The most that any command may do here, whatever an orchestrator sends. Default: no such bound. */
  ceiling?: CeilingOptions;
  /** How the ceiling learns where paths lead; needed where commands run on another host. Default: on this one. */
  resolvePath?: ResolvePath;
  /**
   * Files, HTTP and processes of the same host, for orchestrators that ask for them; called once for each. Not offered
   * where a ceiling restricts the executor, which an exec-server would not keep. Default: tools alone.
   */
  execServer?: CreateExecServer;
  limits?: Partial<ExecutorLimits>;
  /** How long calls and sessions outlive a lost channel, waiting for a resume, milliseconds; default 30000, 0: not at all. */
  resumeGraceMs?: number;
  /** Default: `createRandomIds()`. */
  ids?: Ids;
  /** Default: `systemClock` of `@codex/clock`. */
  clock?: Clock;
  /** Logs, metrics and spans, with what no orchestrator sees: that a tool has thrown, for example. */
  telemetry?: Telemetry;
}

/** A running tool host: serves orchestrators over channels, each with sessions of its own. Made by `createExecutor`. */
export interface Executor extends AsyncDisposable {
  /** The tools besides those for commands and sessions; changes are announced to orchestrators that initialized. */
  readonly tools: ToolRegistry;
  /**
   * Serves one orchestrator until it says `shutdown`, or its channel ends and it does not come back; then ends every
   * session it has. Closes the channel. Never rejects. Each orchestrator has sessions of its own.
   */
  serve(channel: Channel, options?: ServeOptions): Promise<void>;
  /** Orchestrators that are served, those included that may still come back. */
  readonly orchestratorCount: number;
  /** Ends what every orchestrator has, at once, also of those that are away. Idempotent; never rejects. `await using` calls it. */
  close(): Promise<void>;
}

/** Options of `Executor.serve` for one channel. */
export interface ServeOptions {
  /**
   * Whether the orchestrator could come back over another channel. False: the end of this one ends everything. Default
   * true, which needs `resumeGraceMs` and an orchestrator that has said `initialize`.
   */
  resumable?: boolean;
}

/**
 * @throws RangeError for a limit or grace that is no such number, or a root that is no absolute path.
 * @throws Error for two tools of one name.
 */
export function createExecutor(options: ExecutorOptions): Executor {
  const limits = resolveLimits(options.limits);
  const graceMs = checkGrace(options.resumeGraceMs ?? DEFAULT_RESUME_GRACE_MS);
  const sessionTools = options.sessionTools === false ? NO_TOOLS : SESSION_TOOLS;
  const tools = createToolRegistry(new Set(sessionTools.keys()));
  for (const tool of options.tools ?? []) tools.add(tool);
  const env = options.env ?? process.env;
  const { ceiling, resolvePath } = options;
  // On another host this process does not know where temporary files go.
  const temporaryDirectories = resolvePath === undefined && env.TMPDIR?.startsWith("/") ? [env.TMPDIR] : [];
  const telemetry = createExecutorTelemetry(options.telemetry ?? {}, sessionTools.keys());
  const clock = options.clock ?? systemClock;
  const connections = new Connections({ clock, maxLost: limits.lostChannels, telemetry });
  const shared = {
    backend: options.backend,
    sessionTools,
    registry: tools,
    env,
    ceiling: ceiling === undefined ? undefined : createCeilingGuard(ceiling, temporaryDirectories, resolvePath),
    limits,
    ids: options.ids ?? createRandomIds(),
    clock,
    getHost: () => options.host ?? getHostInfo(env),
    telemetry,
    execServer: offerExecServer(options),
    all: new Set<UnifiedExec>(),
  };
  telemetry.observeSessions(() => countRunning(shared.all));
  let isClosed = false;
  const open = (channel: Channel, isResumable: boolean) => {
    const connection = new Connection(channel, { ...shared, graceMs: isResumable ? graceMs : 0 });
    connections.add(connection);
    return connection;
  };
  const context: ServeContext = {
    connections,
    open,
    sessionTools,
    registry: tools,
    telemetry,
    isClosed: () => isClosed,
  };
  return {
    tools,
    get orchestratorCount() {
      return connections.count;
    },
    serve: (channel, { resumable = true } = {}) =>
      isClosed ? channel.close() : serveChannel(channel, resumable, context),
    close() {
      isClosed = true;
      return connections.endAll();
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

const NO_TOOLS: ReadonlyMap<string, SessionTool> = new Map();

function offerExecServer({ execServer, ceiling }: ExecutorOptions): ExecServerOffer {
  if (execServer === undefined) return { refusal: "this executor serves tools alone: it has no exec-server beside it" };
  const { mode = "danger-full-access", roots = [], network = mode === "danger-full-access" } = ceiling ?? {};
  if (mode === "danger-full-access" && roots.length === 0 && network) return { create: execServer };
  return { refusal: "this executor has a ceiling, which an exec-server would not keep: it serves tools alone" };
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

interface ServeContext {
  connections: Connections;
  open: (channel: Channel, isResumable: boolean) => Connection;
  sessionTools: ReadonlyMap<string, SessionTool>;
  registry: ToolRegistry;
  telemetry: ExecutorTelemetry;
  isClosed: () => boolean;
}

async function serveChannel(channel: Channel, isResumable: boolean, context: ServeContext): Promise<void> {
  const { connections, sessionTools, registry, telemetry, isClosed } = context;
  const attachment: Attachment = {
    channel,
    connection: undefined,
    sessionTools,
    registry,
    open: () => context.open(channel, isResumable),
    find: (id) => connections.find(id),
    reclaim: (connection) => connections.reclaim(connection),
    telemetry,
  };
  let end: "shut down" | "lost" = "lost";
  try {
    end = await receiveMessages(attachment);
  } catch (error) {
    telemetry.log.error?.("the receive loop failed", describeFault(error)); // a defect of this package: everything is ended all the same
    end = "shut down";
  }
  const { connection } = attachment;
  // A connection that was resumed over another channel belongs to that one now.
  if (connection?.outbox.isLatest(channel)) {
    if (end === "lost" && connection.isResumable && !isClosed()) {
      connection.detach(channel);
      void channel.close();
      await connections.keep(connection);
    } else {
      await connections.end(connection);
    }
  }
  await channel.close();
}
