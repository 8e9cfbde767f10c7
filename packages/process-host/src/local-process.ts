import {
  type ExecProcess,
  type GateState,
  type InputWait,
  MAX_WRITE_BYTES,
  type NetworkSpec,
  type NetworkState,
  type OutputLog,
  ProcessError,
  type ProcessSignal,
  type ProcessSpec,
  type ProcessStdio,
  type ResourceState,
  type SandboxDenial,
  type SandboxType,
  type SentSignal,
  StartError,
  type TerminateOptions,
  type TerminationReceipt,
  WriteError,
} from "@codex/exec-backend";
import type { EndedBy, ProcessOutcome, ResourceLimits, TerminalSize } from "@codex/executor-protocol";
import type { ExitStatus, Marks, Native } from "@codex/native";
import { getSignalName } from "@codex/native";
import type { CommandSandbox, WrappedCommand } from "@codex/sandbox";
import type { Counter } from "@codex/telemetry";
import { defined } from "@codex/values";
import { signalProcess } from "./ending/process-group.js";
import { createSandboxTarget, GroupTarget, type SignalTarget } from "./ending/signal-target.js";
import { terminateFamily } from "./ending/terminate.js";
import type { Guard } from "./guard/guard.js";
import { guardGroup, guardPlaceholders } from "./guard/guard-process.js";
import { hideSecrets, withRoutes } from "./network/routes.js";
import type { JoinedNetwork, SessionNetworks } from "./network/session-networks.js";
import { getInputDirectory, getInputWait } from "./proc/input-wait.js";
import type { FirstProcess, PidSequence } from "./proc/pid-sequence.js";
import type { SessionResources } from "./resources/session-resources.js";
import { type SandboxedExit, settleSandboxedExit } from "./sandboxed-exit.js";
import type { Launched } from "./start/attach.js";
import { launch } from "./start/launch.js";
import { type HostGate, openProcessGate, type ProcessGate } from "./start/process-gate.js";
import { ProcessRecord } from "./start/process-record.js";
import type { StdinWriter } from "./stdin-writer.js";

/** A process of this host, with what its backend needs to manage it. */
export interface LocalProcess extends ExecProcess {
  readonly first: FirstProcess;
  /** Checks whether the group is empty; true once it is. */
  checkGroup(): boolean;
}

export interface LocalContext {
  native: Native;
  guard: Guard;
  marks: Marks;
  pids: PidSequence;
  sandbox: CommandSandbox;
  gate: HostGate;
  /** Undefined where nothing is limited. Rejects with a StartError for a limit that cannot be held. */
  prepareLimits(wanted: ResourceLimits | undefined): Promise<SessionResources | undefined>;
  openNetworks(): Promise<Pick<SessionNetworks, "join">>;
  outputBytes: Counter;
  onExit(): void;
  /** Called when a process is disposed of. `heldBytes`: its output in memory. */
  onDispose(heldBytes: number): void;
  /** The sandbox of an ended process is being released; the promise never rejects. */
  onRelease(released: Promise<void>): void;
}

/** Starts a process in a session of its own. @throws StartError */
export async function startLocalProcess(spec: ProcessSpec, file: string, context: LocalContext): Promise<LocalProcess> {
  const joined = spec.network === undefined ? undefined : await joinNetwork(spec, spec.network, context);
  let wrapped: WrappedCommand | undefined;
  try {
    const own = joined === undefined ? { spec, joined } : withNetwork(spec, joined);
    wrapped = guardPlaceholders(await wrapSpec(own.spec, file, joined, context.sandbox), context.guard);
    return await startWrapped(own.spec, file, { wrapped, joined: own.joined }, context);
  } catch (error) {
    joined?.leave();
    if (wrapped !== undefined) context.onRelease(wrapped.release());
    throw error;
  } finally {
    wrapped?.detach();
  }
}

/** @throws StartError for a network that cannot be held */
async function joinNetwork(spec: ProcessSpec, network: NetworkSpec, context: LocalContext): Promise<JoinedNetwork> {
  if (spec.sandbox === undefined) throw new StartError("sandbox_invalid", "a managed network needs a sandbox");
  return (await context.openNetworks()).join(network);
}

/**
 * What finds the network and its routes, and nothing of their secrets; all that it adds are variables of the network, which those that leave it do not
 * get. @throws StartError where a secret cannot be kept from the process
 */
function withNetwork(spec: ProcessSpec, joined: JoinedNetwork): { spec: ProcessSpec; joined: JoinedNetwork } {
  const { routes = [] } = spec.network ?? {};
  const env = withRoutes(routes, { ...spec.env, ...joined.variables }, process.env);
  const sandbox = spec.sandbox === undefined ? {} : { sandbox: hideSecrets(routes, spec.sandbox) };
  const added = Object.entries(env).filter(([name, value]) => spec.env[name] !== value);
  return { spec: { ...spec, env, ...sandbox }, joined: { ...joined, variables: Object.fromEntries(added) } };
}

/** @throws StartError for a sandbox that cannot be set up */
async function wrapSpec(
  spec: ProcessSpec,
  file: string,
  joined: JoinedNetwork | undefined,
  sandbox: CommandSandbox,
): Promise<WrappedCommand | undefined> {
  if (spec.sandbox === undefined) return undefined;
  const session = spec.stdio.kind === "pty" ? "terminal" : "new";
  const { argv, arg0, cwd, env } = spec;
  return sandbox.wrap({ argv, file, cwd, env, session, ...defined({ arg0 }) }, spec.sandbox, joined?.network);
}

async function startWrapped(
  spec: ProcessSpec,
  file: string,
  { wrapped, joined }: { wrapped: WrappedCommand | undefined; joined: JoinedNetwork | undefined },
  context: LocalContext,
): Promise<LocalProcess> {
  const { native, marks, pids, guard } = context;
  const mark = marks.next();
  const record = new ProcessRecord(spec.log, context);
  const familyMarks = new Set([mark]);
  const nextMark = () => {
    const outside = marks.next();
    familyMarks.add(outside);
    return outside;
  };
  const { sandbox, onRelease } = context;
  const start: Start = { marks: familyMarks, startedBefore: pids.started, startedAt: performance.now() };
  const resources = await context.prepareLimits(spec.limits);
  const wrappers = (wrapped?.wrappers ?? 0) + (resources === undefined ? 0 : 1);
  const gate = await openProcessGate(spec, mark, wrapped, context.gate, {
    sandbox,
    guard,
    nextMark,
    onRelease,
    joined,
    resources,
    wrappers,
  }).catch((error: unknown) => {
    resources?.end();
    throw error;
  });
  const markStart = <T>(spawn: () => T) => (native.marks === undefined ? spawn() : native.marks.give(mark, spawn));
  try {
    const launched = await launch(spec, file, {
      native,
      record,
      markStart,
      wrapped,
      resources,
      spawnGated: gate?.spawn,
    });
    guardGroup(launched.pid, guard);
    return new LocalChild(spec.stdio, { start, wrapped, joined, gate, resources, record, launched }, context);
  } catch (error) {
    gate?.end();
    resources?.end();
    throw error;
  }
}

/** What was known before a process was started. */
interface Start {
  /** Its own, and those of its programs outside of its sandbox. */
  marks: ReadonlySet<bigint>;
  /** Processes that the host had started before this one. */
  startedBefore: number | undefined;
  /** By the monotonic clock, ms. */
  startedAt: number;
}

/** A process that has just been started. */
interface Started {
  start: Start;
  wrapped: WrappedCommand | undefined;
  joined: JoinedNetwork | undefined;
  gate: ProcessGate | undefined;
  resources: SessionResources | undefined;
  record: ProcessRecord;
  launched: Launched;
}

/**
 * There may be thousands, most of them ended and retained for their output: it is a class, retains only the parts of its spec
 * that it needs, and drops what is not needed after its end.
 */
class LocalChild implements LocalProcess {
  readonly #context: LocalContext;
  readonly #stdio: ProcessStdio;
  readonly #start: Start;
  readonly sandboxType: SandboxType | undefined;
  readonly pid: number;
  readonly exited: Promise<ProcessOutcome>;
  readonly closed: Promise<void>;
  readonly #record: ProcessRecord;
  readonly #target: SignalTarget;
  readonly #gate: ProcessGate | undefined;
  readonly #joined: JoinedNetwork | undefined;
  readonly #resources: SessionResources | undefined;
  #resolveExited: ((outcome: ProcessOutcome) => void) | undefined;
  /** Undefined once it has ended. */
  #wrapped: WrappedCommand | undefined;
  #stdin: StdinWriter;
  /** Undefined on pipes, and once the output is complete. */
  #resize: Launched["resize"];
  /** Pid of the first process of its sandbox, once the guard has it. */
  #init: number | undefined;
  #outcome: ProcessOutcome = { kind: "running" };
  #denial: SandboxDenial | undefined;
  /** The first cause of its termination; a death by signal is attributed to it. */
  #cause: EndedBy | undefined;
  /** Signals that were sent before the end. */
  #sent: Set<string> | undefined;
  #groupGone = false;
  #disposed = false;

  constructor(
    stdio: ProcessStdio,
    { start, wrapped, joined, gate, resources, record, launched }: Started,
    context: LocalContext,
  ) {
    const { pid } = launched;
    this.#context = context;
    this.#stdio = stdio;
    this.#start = start;
    this.#wrapped = wrapped;
    this.#gate = gate;
    this.#joined = joined;
    this.#resources = resources;
    this.#record = record;
    this.#stdin = launched.stdin;
    this.#resize = launched.resize;
    this.pid = pid;
    this.sandboxType = wrapped?.type;
    const status = wrapped?.status;
    this.#target = status === undefined ? new GroupTarget(pid) : createSandboxTarget(pid, status, this.#isTerminal);
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    void record.exit.then((exit) => this.#onExit(exit));
    const streamsEnded = record.streamsEnded.then(() => {
      if (this.#isTerminal) this.#closeStdin(); // the terminal is its only stream
    });
    this.closed = Promise.all([this.exited, streamsEnded]).then(() => this.#complete());
    wrapped?.onBroken?.(() => this.#send("SIGKILL"));
    void gate?.broken.then(() => this.#send("SIGKILL"));
    resources?.watch(({ name }) => void this.terminate({ by: "limit", graceMs: name === "time" ? TIME_GRACE_MS : 0 }));
    void status?.started.then((init) => {
      if (init !== undefined && !this.#groupGone) this.#guardInit(init);
    });
  }

  get log(): OutputLog {
    return this.#record.log;
  }

  get startedAt(): number {
    return this.#start.startedAt;
  }

  get first(): FirstProcess {
    return { pid: this.pid, started: this.#start.startedBefore };
  }

  get outcome(): ProcessOutcome {
    return this.#outcome;
  }

  get denial(): SandboxDenial | undefined {
    return this.#denial;
  }

  get gate(): GateState | undefined {
    return this.#gate?.state;
  }

  get network(): NetworkState | undefined {
    return this.#joined?.getState(!this.#isRunning);
  }

  get resources(): ResourceState | undefined {
    return this.#resources?.state;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_WRITE_BYTES) {
      throw new WriteError("too_large", 0, `a write has ${bytes.length} bytes; the limit is ${MAX_WRITE_BYTES} bytes`);
    }
    await this.#stdin.write(bytes);
  }

  async getInputWait(): Promise<InputWait> {
    const program = this.#target.getProgram();
    return program === undefined ? "unknown" : getInputWait(program, this.#stdio);
  }

  async getInputDirectory(): Promise<string | undefined> {
    const program = this.#target.getProgram();
    return program === undefined ? undefined : getInputDirectory(program, this.#stdio);
  }

  closeStdin(): Promise<void> {
    return this.#stdin.end();
  }

  async signal(name: ProcessSignal): Promise<boolean> {
    return this.#send(name);
  }

  async resize(size: TerminalSize): Promise<void> {
    checkSize(size);
    if (!this.#isTerminal) throw new ProcessError("no_terminal", "the process has no terminal to resize");
    if (this.#resize === undefined) throw new ProcessError("exited", "the terminal is gone");
    try {
      this.#resize(size);
    } catch (error) {
      throw new ProcessError("exited", "the terminal is gone", { cause: error });
    }
  }

  terminate(options: TerminateOptions = {}): Promise<TerminationReceipt> {
    const running = this.#isRunning;
    if (running) this.#cause ??= options.by ?? "terminate";
    const { marks, native, pids } = this.#context;
    const target = this.#target;
    return terminateFamily({
      running,
      ...defined({ graceMs: options.graceMs }),
      polite: this.#isTerminal ? ["SIGHUP", "SIGTERM"] : ["SIGTERM"],
      family: target.watch(
        // The id of a group that is gone may have been reused.
        {
          getGroup: () => (this.checkGroup() ? undefined : target.getGroup()),
          marks,
          wanted: this.#start.marks,
          first: this.first,
          pids,
        },
        native,
      ),
      send: (signal) => this.#send(signal),
      isGone: () => this.checkGroup(),
      exited: this.exited,
      getOutcome: () => this.#outcome,
      onGone: () => this.#forgetGroup(),
    });
  }

  dispose(): void {
    if (!this.#disposed) this.#context.onDispose(this.#record.log.heldBytes);
    this.#disposed = true;
    this.#closeStdin();
    this.#record.close();
  }

  checkGroup(): boolean {
    if (!this.#groupGone && !this.#isRunning && !this.#target.exists()) this.#forgetGroup();
    return this.#groupGone;
  }

  get #isRunning(): boolean {
    return this.#outcome.kind === "running";
  }

  get #isTerminal(): boolean {
    return this.#stdio.kind === "pty";
  }

  #closeStdin(): void {
    this.#stdin = this.#stdin.close();
  }

  #send(signal: SentSignal): boolean {
    if (this.checkGroup()) return false;
    if (this.#isRunning) {
      this.#sent ??= new Set();
      this.#sent.add(signal);
    }
    if (this.#target.send(signal)) return true;
    // Between fork and setsid the group does not exist yet, but the process does.
    return this.#isRunning && signalProcess(this.pid, signal);
  }

  #forgetGroup(): void {
    if (this.#groupGone) return;
    this.#groupGone = true;
    this.#gate?.end();
    this.#joined?.leave();
    this.#context.guard.remove(this.pid);
    if (this.#init !== undefined) this.#context.guard.removeProcess(this.#init);
  }

  /** A command can keep the init process of its sandbox alive after the wrapper: the guard ends it by its pid. */
  #guardInit(init: number): void {
    try {
      this.#context.guard.addProcess(init);
      this.#init = init;
    } catch {
      signalProcess(init, "SIGKILL"); // without the guard it could outlive this process
    }
  }

  #onExit(status: ExitStatus): void {
    const wrapped = this.#wrapped;
    if (wrapped === undefined) return this.#finishPlain(status);
    const settled = settleSandboxedExit(wrapped, status, this.#record);
    this.#context.onRelease(settled.then((exit) => this.#finishSandboxed(exit)));
  }

  #finishPlain(status: ExitStatus): void {
    this.#finish("code" in status ? { kind: "exited", code: status.code } : this.#describeSignal(status.signal));
  }

  #finishSandboxed({ status, denial }: SandboxedExit): void {
    const [first] = this.#sent ?? [];
    // A signal of ours explains such an end, unless it was sent because the sandbox did not hold.
    const isExplained = status === undefined && first !== undefined && !this.#wrapped?.isBroken();
    this.#denial = isExplained ? undefined : denial;
    if (status === undefined) {
      // It was signalled before the program started: that is what ended it.
      if (first !== undefined) return this.#finishPlain({ signal: first });
      return this.#finish({ kind: "failed_to_start", reason: denial?.reason ?? "in the sandbox" });
    }
    // The wrapper reports a death by signal as 128 + its number, which a program may also exit with: it counts as a signal
    // if that one was sent.
    const signal = "code" in status && status.code > 128 ? getSignalName(status.code - 128) : "";
    const isSignal = signal !== "" && (this.#sent?.has(signal) || this.#resources?.explain(signal) !== undefined);
    this.#finishPlain(isSignal ? { signal } : status);
  }

  #describeSignal(signal: string): ProcessOutcome {
    const by = this.#blame(signal);
    const limit = by === "limit" ? this.#resources?.explain(signal) : undefined;
    return { kind: "signaled", signal, by, ...defined({ limit }) };
  }

  #blame(signal: string): EndedBy {
    if (this.#cause !== undefined) return this.#cause;
    if (this.#sent?.has(signal)) return "terminate";
    if (this.#resources?.explain(signal) !== undefined) return "limit";
    // A process does not kill itself by SIGKILL: another process did, or the kernel when it was out of memory.
    return signal === "SIGKILL" ? "unknown" : "self";
  }

  #finish(outcome: ProcessOutcome): void {
    this.#outcome = outcome;
    this.#wrapped = undefined;
    this.#sent = undefined;
    this.checkGroup();
    this.#resolveExited?.(outcome);
    this.#resolveExited = undefined;
    // What it has used is read once those who wait for its end know of it.
    if (this.#resources !== undefined) setImmediate(() => this.#resources?.end());
    this.#context.onExit();
  }

  /** It has exited and its streams have ended. */
  #complete(): void {
    this.#record.log.finish();
    this.#closeStdin(); // no process reads it any more
    this.#resize = undefined;
  }
}

/** Between SIGTERM and SIGKILL for a process whose time is over, milliseconds. */
const TIME_GRACE_MS = 2_000;

const MAX_TERMINAL_CELLS = 65_535;

function checkSize({ rows, cols }: TerminalSize): void {
  for (const [name, value] of Object.entries({ rows, cols })) {
    if (!Number.isInteger(value) || value < 1 || value > MAX_TERMINAL_CELLS) {
      throw new ProcessError("bad_size", `${name} must be an integer from 1 to ${MAX_TERMINAL_CELLS}, got ${value}`);
    }
  }
}
