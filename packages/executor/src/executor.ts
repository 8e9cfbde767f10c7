import type { Channel } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-server";
import type { HostInfo } from "@codex/executor-protocol";
import { createAdmission } from "./admission.js";
import { ApprovalLedger } from "./approval-ledger.js";
import { Calls } from "./calls.js";
import { type CeilingGuard, type CeilingOptions, createCeilingGuard, type ResolvePath } from "./ceiling.js";
import { type Clock, systemClock } from "./clock.js";
import { messageOf } from "./errors.js";
import { getHostInfo } from "./host/host-info.js";
import { createRandomIds, type Ids } from "./ids.js";
import { type ExecutorLimits, LAST_ANSWERS_MS, LAST_SESSIONS_MS, resolveLimits } from "./limits.js";
import { receiveMessages } from "./loop.js";
import { Outbox } from "./outbox.js";
import { UnifiedExec } from "./sessions/unified-exec.js";
import { createToolRegistry, type ExecutorTool, type ToolRegistry } from "./tool-registry.js";
import { SESSION_TOOLS } from "./tools/tools.js";

export interface ExecutorOptions {
  /**
   * Where processes run. One that is handed in stays the caller's: close it after the last `serve` has ended. A function
   * makes one for each orchestrator, closed with its channel: then nothing outlives the channel, not even what a
   * session that has ended left running.
   */
  backend: ExecBackend | (() => ExecBackend);
  /** Tools besides those for commands and sessions. */
  tools?: readonly ExecutorTool[];
  /** What `initialize` tells about the host; default: of this process. */
  host?: HostInfo;
  /** The executor's own environment, the base of an `envPolicy`; default: of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The most that any command may do here, whatever an orchestrator sends. Default: no such bound. */
  ceiling?: CeilingOptions;
  /** How the ceiling learns where paths lead; needed where commands run on another host. Default: on this one. */
  resolvePath?: ResolvePath;
  limits?: Partial<ExecutorLimits>;
  ids?: Ids;
  clock?: Clock;
  /** For the default `ids`; as `Math.random`. */
  random?: () => number;
  /** Told what no orchestrator is told: that a tool has thrown, for example. */
  log?: (problem: string) => void;
}

export interface Executor {
  /** The tools besides those for commands and sessions; changes are announced to orchestrators that initialized. */
  readonly tools: ToolRegistry;
  /**
   * Serves one orchestrator until it says `shutdown` or its channel ends; then ends every session it has, and closes
   * the channel. Never rejects. Each channel has sessions of its own.
   */
  serve(channel: Channel): Promise<void>;
}

/**
 * @throws RangeError for a limit that is no positive integer, or a root that is no absolute path.
 * @throws Error for two tools of one name.
 */
export function createExecutor(options: ExecutorOptions): Executor {
  const limits = resolveLimits(options.limits);
  const tools = createToolRegistry(new Set(SESSION_TOOLS.keys()));
  for (const tool of options.tools ?? []) tools.add(tool);
  const env = options.env ?? process.env;
  const { ceiling, resolvePath } = options;
  // On another host this process does not know where temporary files go.
  const temporaryDirectories = resolvePath === undefined && env.TMPDIR?.startsWith("/") ? [env.TMPDIR] : [];
  const context: ServeContext = {
    backend: options.backend,
    tools,
    env,
    ceiling: ceiling === undefined ? undefined : createCeilingGuard(ceiling, temporaryDirectories, resolvePath),
    limits,
    ids: options.ids ?? createRandomIds(options.random),
    clock: options.clock ?? systemClock,
    getHost: () => options.host ?? getHostInfo(env),
    log: options.log ?? (() => {}),
    all: new Set(),
  };
  return { tools, serve: (channel) => serveChannel(channel, context) };
}

interface ServeContext {
  backend: ExecBackend | (() => ExecBackend);
  tools: ToolRegistry;
  env: Readonly<Record<string, string | undefined>>;
  ceiling: CeilingGuard | undefined;
  limits: ExecutorLimits;
  ids: Ids;
  clock: Clock;
  getHost: () => HostInfo;
  log: (problem: string) => void;
  all: Set<UnifiedExec>;
}

async function serveChannel(channel: Channel, context: ServeContext): Promise<void> {
  const { tools: registry, env, limits, ids, clock, getHost, log } = context;
  const outbox = new Outbox(channel);
  const isOwn = typeof context.backend === "function";
  const backend = typeof context.backend === "function" ? context.backend() : context.backend;
  const approvals = new ApprovalLedger(limits.rememberedApprovals);
  const admission = createAdmission({ backend, ceiling: context.ceiling, approvals });
  const unifiedExec = new UnifiedExec({
    backend,
    admission,
    env,
    clock,
    ids,
    limits,
    all: context.all,
    events: {
      isLive: () => outbox.isLive(),
      sendOutput: (delta) => outbox.sendOutput(delta),
      sendExit: (processId, outcome) => void outbox.notify({ type: "session_exited", processId, outcome }),
    },
  });
  const calls = new Calls({ outbox, registry, unifiedExec, maxInFlight: limits.inFlightCalls, log });
  const describeHost = async () => {
    const sandbox = await admission.describe();
    return sandbox === undefined ? getHost() : { ...getHost(), sandbox };
  };
  const unwatch = registry.watch(() => void outbox.notify({ type: "tools_changed" }));
  try {
    await receiveMessages({ channel, outbox, calls, registry, connectionId: ids.connection(), getHost: describeHost });
  } catch (error) {
    log(`the receive loop failed: ${messageOf(error)}`); // a fault of ours; nothing is left behind for it
  }
  unwatch();
  calls.cancelAll();
  await within(clock, LAST_SESSIONS_MS, unifiedExec.close());
  if (isOwn) await backend.close();
  await within(clock, LAST_ANSWERS_MS, calls.settle());
  await channel.close();
}

/** Waits, but not without end: a tool may ignore that it was cancelled, and a far host that it was asked. */
async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([work, late]);
  cancel();
}
