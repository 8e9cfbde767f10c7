import type { ExecBackend, ProcessSpec } from "@codex/exec-backend";
import { StartError } from "@codex/exec-backend";
import type { ProcessOutcome, ResourceLimits } from "@codex/executor-protocol";
import {
  createMarks,
  createNative,
  createRemoteMounts,
  findRuntimeProblem,
  type Gate,
  type Native,
  type RemoteMounts,
} from "@codex/native";
import { type CommandSandbox, createCommandSandbox } from "@codex/sandbox";
import type { Telemetry } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { terminateFamily } from "./ending/terminate.js";
import { watchFamily } from "./ending/watch-family.js";
import { createGuard, type Guard } from "./guard/guard.js";
import { openGuard } from "./guard/guard-process.js";
import { type LocalContext, type LocalProcess, startLocalProcess } from "./local-process.js";
import type { SessionNetworks } from "./network/session-networks.js";
import { type FirstProcess, PidSequence } from "./proc/pid-sequence.js";
import { createProcessTelemetry } from "./process-telemetry.js";
import { createReclaim } from "./reclaim.js";
import type { Limiter } from "./resources/limiter.js";
import { listAccessed, listLoaded, resolveProgram } from "./start/resolve-program.js";

/** Collaborators of a local backend; each has a real default. */
export interface LocalBackendOptions {
  native?: Native;
  guard?: Guard;
  /** Applies `ProcessSpec.sandbox`. */
  sandbox?: CommandSandbox;
  /** Default: those of this host. Starts on a remote mount that does not answer keep no other start waiting. */
  mounts?: RemoteMounts;
  /** Milliseconds between SIGTERM and SIGKILL when the backend is closed. Default 500. */
  closeGraceMs?: number;
  /**
   * Linux: from the first start on, no program of the same user can read the memory or the environment of this process; it
   * leaves no core dump, and no debugger can attach to it. For a process that does nothing else. Default false.
   */
  shielded?: boolean;
  /** Called once, before the first process is started. */
  onFirstStart?: () => void;
  /**
   * Collects the garbage of this process; called some time after processes with much output were disposed of. Default: V8
   * collects when it next allocates much.
   */
  collectGarbage?: () => void;
  telemetry?: Telemetry | undefined;
  /** Commands with a managed network reach private addresses through the proxy of this host, too. Default false. */
  upstreamForPrivate?: boolean;
  /** What each process, with all that it starts, may use. Stricter limits of a start hold instead. Default: no limits. */
  limits?: ResourceLimits;
  /** Versions of the JavaScript runtime. Default `process.versions`. */
  versions?: Readonly<Record<string, string | undefined>>;
}

const DEFAULT_CLOSE_GRACE_MS = 500;

const isLinux = process.platform === "linux";

/**
 * Runs processes on this host. The backend owns them and everything they start: `close` ends all of it, and so does the
 * death of this process, whatever its cause.
 */
export function createLocalBackend(options: LocalBackendOptions = {}): ExecBackend {
  const native = options.native ?? createNative();
  const marks = createMarks();
  const guard = options.guard ?? createGuard({ markPrefix: marks.prefix, native: isLinux ? native : undefined });
  const mounts = options.mounts ?? createRemoteMounts();
  const sandbox = options.sandbox ?? createCommandSandbox({ native, mounts });
  const telemetry = createProcessTelemetry(options.telemetry ?? {});
  let limiter: Limiter | undefined;
  const stopObserving = telemetry.observeUse(() => limiter?.use ?? {});
  // It is loaded for the hosts that limit something.
  const prepareLimits = async (wanted: ResourceLimits | undefined) => {
    if (wanted === undefined && options.limits === undefined) return undefined;
    const { Limiter } = await import("./resources/limiter.js");
    limiter ??= new Limiter(options.limits ?? {});
    return limiter.prepare(wanted);
  };
  /** Processes whose group is not known to be empty. */
  const owned = new Set<LocalProcess>();
  const starting = new Set<Promise<unknown>>();
  /** Sandboxes being released: their program has ended, but not necessarily their last process. */
  const releasing = new Set<Promise<void>>();
  const problem = findRuntimeProblem(options.versions);
  const pids = new PidSequence();
  let used = false;
  let first: FirstProcess | undefined;
  let closing: Promise<void> | undefined;

  const sweep = () => {
    for (const process of owned) if (process.checkGroup()) owned.delete(process);
  };
  const onRelease = (released: Promise<void>) => {
    releasing.add(released);
    void released.finally(() => {
      releasing.delete(released);
      sweep();
    });
  };
  const { collectGarbage: collect } = options;
  const reclaim = collect && createReclaim({ collect, trim: () => native.trimMemory() });
  let gate: Promise<Gate | { missing: string }> | undefined;
  const openGate = () => {
    gate ??= native.openGate().catch((error: unknown) => ({ missing: messageOf(error) }));
    return gate;
  };
  const dropGate = async (failed: Gate) => {
    const opening = gate;
    // Of several starts that it failed, the first drops it: there may be another one by now.
    if ((await opening) !== failed || gate !== opening) return;
    gate = undefined;
    await failed.close();
  };
  let networks: Promise<SessionNetworks> | undefined;
  // It is loaded for the hosts that use it.
  const openNetworks = () => {
    networks ??= import("./network/session-networks.js").then(
      ({ SessionNetworks }) => new SessionNetworks(sandbox, process.env, options.upstreamForPrivate),
    );
    return networks;
  };
  const context: LocalContext = {
    native,
    gate: { open: openGate, drop: dropGate },
    openNetworks,
    guard,
    marks,
    pids,
    sandbox,
    outputBytes: telemetry.outputBytes,
    prepareLimits,
    onExit: sweep,
    onDispose: (bytes) => reclaim?.count(bytes),
    onRelease,
  };
  const start = async (spec: ProcessSpec) => {
    if (problem !== undefined) throw new StartError("os_error", `the process was not started: ${problem}`);
    const file = resolveProgram(spec);
    if (closing !== undefined) throw new StartError("closed", "the process host is shutting down");
    sweep();
    openGuard(guard);
    if (!used) {
      used = true;
      first = pids.getNext();
      if (options.shielded) native.shield();
      options.onFirstStart?.();
    }
    const process = await startLocalProcess(spec, file, context);
    if (!process.checkGroup()) owned.add(process);
    return process;
  };
  const track = (spec: ProcessSpec) => {
    const started = start(spec);
    starting.add(started);
    started.then(
      (process) => telemetry.started(spec, process),
      (error: unknown) => telemetry.failed(spec, error),
    );
    return started.finally(() => starting.delete(started));
  };
  const close = async () => {
    await Promise.allSettled(starting);
    const graceMs = options.closeGraceMs ?? DEFAULT_CLOSE_GRACE_MS;
    await Promise.all([...owned].map((process) => process.terminate({ by: "shutdown", graceMs })));
    await Promise.all(releasing);
    for (const process of owned) process.dispose();
    owned.clear();
    const everything = { getGroup: () => undefined, marks, wanted: undefined, first, pids };
    if (used) await terminateFamily({ ...LEFT_BEHIND, graceMs, family: watchFamily(everything, native) });
    marks.release();
    limiter?.close();
    stopObserving();
    const opened = await gate;
    if (opened !== undefined && !("missing" in opened)) await opened.close();
    await (await networks)?.close();
    guard.close();
    reclaim?.close();
  };
  return {
    takesGate: true,
    takesNetwork: true,
    takesLimits: true,
    async openGate() {
      const opened = await openGate();
      if ("missing" in opened) return opened.missing;
      return opened.verifies ? undefined : "a program that starts cannot be compared with what was judged";
    },
    getSandboxSupport: sandbox.getSupport,
    start(spec, signal) {
      const loaded = () => mounts.reach(listLoaded(spec));
      const reached = mounts.reach(listAccessed(spec))?.then(loaded) ?? loaded();
      // Closing does not wait for a mount: what reaches it later is not started.
      return reached === undefined ? track(spec) : waitForMounts(reached, signal).then(() => track(spec));
    },
    close() {
      closing ??= close();
      return closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

/** @throws StartError when the start is given up first: whoever asked would not learn of a later one */
const waitForMounts = (reached: Promise<void>, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    const giveUp = () =>
      reject(
        new StartError("unreachable", "a file system of another host did not answer before the start was given up"),
      );
    if (signal?.aborted === true) giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
    void reached.then(resolve, reject).finally(() => signal?.removeEventListener("abort", giveUp));
  });

/** Ends processes that exited commands left behind, whose groups are no longer known. */
const LEFT_BEHIND = {
  running: false,
  polite: ["SIGTERM"],
  send: () => false,
  isGone: () => true,
  exited: Promise.resolve(),
  getOutcome: (): ProcessOutcome => ({ kind: "exited", code: 0 }),
  onGone: () => {},
} as const;
