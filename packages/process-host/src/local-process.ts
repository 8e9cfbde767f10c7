import {
  DEFAULT_LOG_LIMITS,
  type ExecProcess,
  type GateState,
  type InputWait,
  type LogHost,
  MAX_WRITE_BYTES,
  ProcessError,
  type ProcessSignal,
  type ProcessSpec,
  type ProcessStdio,
  RetainedLog,
  type SandboxDenial,
  type SandboxType,
  type SentSignal,
  StartError,
  type TerminateOptions,
  type TerminationReceipt,
  WriteError,
} from "@codex/exec-backend";
import type { EndedBy, OutputStream, ProcessOutcome, TerminalSize } from "@codex/executor-protocol";
import type { ChildStart, ExitStatus, Gate, GatedStart, Marks, Native } from "@codex/native";
import { GateError, getSignalName } from "@codex/native";
import type { CommandSandbox, WrappedCommand } from "@codex/sandbox";
import type { Counter } from "@codex/telemetry";
import { defined } from "@codex/values";
import { signalProcess } from "./ending/process-group.js";
import { createSandboxTarget, GroupTarget, type SignalTarget } from "./ending/signal-target.js";
import { terminateFamily } from "./ending/terminate.js";
import type { Guard } from "./guard/guard.js";
import { guardGroup, guardPlaceholders } from "./guard/guard-process.js";
import { getInputDirectory, getInputWait } from "./proc/input-wait.js";
import type { FirstProcess, PidSequence } from "./proc/pid-sequence.js";
import { type SandboxedExit, settleSandboxedExit } from "./sandboxed-exit.js";
import type { LaunchEvents, Launched } from "./start/attach.js";
import { launch, type SpawnGated } from "./start/launch.js";
import { closedStdin, type StdinWriter } from "./stdin-writer.js";

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
  /** The gate of this host, opened with the first use; or why there is none. */
  openGate(): Promise<Gate | { missing: string }>;
  /** The gate has failed: the next use opens another. */
  dropGate(failed: Gate): Promise<unknown>;
  outputBytes: Counter;
  onExit(): void;
  /** Called when a process is disposed of. `heldBytes`: its output in memory. */
  onDispose(heldBytes: number): void;
  /** The sandbox of an ended process is being released; the promise never rejects. */
  onRelease(released: Promise<void>): void;
}

/** Starts a process in a session of its own. @throws StartError */
export async function startLocalProcess(spec: ProcessSpec, file: string, context: LocalContext): Promise<LocalProcess> {
  let wrapped = await wrapSpec(spec, file, context.sandbox);
  try {
    wrapped = guardPlaceholders(wrapped, context.guard);
    return await startWrapped(spec, file, wrapped, context);
  } catch (error) {
    if (wrapped !== undefined) context.onRelease(wrapped.release());
    throw error;
  } finally {
    wrapped?.detach();
  }
}

/** @throws StartError for a sandbox that cannot be set up */
async function wrapSpec(spec: ProcessSpec, file: string, sandbox: CommandSandbox): Promise<WrappedCommand | undefined> {
  if (spec.sandbox === undefined) return undefined;
  const session = spec.stdio.kind === "pty" ? "terminal" : "new";
  const { argv, arg0, cwd, env } = spec;
  return sandbox.wrap({ argv, file, cwd, env, session, ...defined({ arg0 }) }, spec.sandbox);
}

async function startWrapped(
  spec: ProcessSpec,
  file: string,
  wrapped: WrappedCommand | undefined,
  context: LocalContext,
): Promise<LocalProcess> {
  const child = new LocalChild(spec, wrapped, context);
  const spawnGated = await child.openGate(spec);
  try {
    child.adopt(await launch(spec, file, context.native, child, { wrapped, spawnGated }));
    return child;
  } catch (error) {
    child.endGate();
    throw error;
  }
}

/**
 * There may be thousands, most of them ended and retained for their output: it is a class, retains only the parts of its spec
 * that it needs, and drops what is not needed after its end.
 */
class LocalChild implements LocalProcess, LaunchEvents, LogHost {
  readonly #context: LocalContext;
  readonly #stdio: ProcessStdio;
  readonly #mark: bigint;
  /** Processes that the host had started before this one. */
  readonly #startedBefore: number | undefined;
  readonly sandboxType: SandboxType | undefined;
  readonly log: RetainedLog;
  readonly startedAt = performance.now();
  readonly exited: Promise<ProcessOutcome>;
  readonly closed: Promise<void>;
  #resolveExited: ((outcome: ProcessOutcome) => void) | undefined;
  #resolveClosed: (() => void) | undefined;
  /** Undefined once it has ended. */
  #wrapped: WrappedCommand | undefined;
  #stdin: StdinWriter = closedStdin;
  /** Undefined once the output is complete. */
  #launched: Launched | undefined;
  #target!: SignalTarget;
  #pid = 0;
  /** Pid of the first process of its sandbox, once the guard has it. */
  #init: number | undefined;
  #outcome: ProcessOutcome = { kind: "running" };
  #denial: SandboxDenial | undefined;
  #gate: GateState | undefined;
  #endGate = () => {};
  /** The first cause of its termination; a death by signal is attributed to it. */
  #cause: EndedBy | undefined;
  /** Signals that were sent before the end. */
  #sent: Set<string> | undefined;
  #openStreams: number;
  #onStreamsEnded: (() => void) | undefined;
  #groupGone = false;
  #disposed = false;

  constructor(spec: ProcessSpec, wrapped: WrappedCommand | undefined, context: LocalContext) {
    this.#context = context;
    this.#stdio = spec.stdio;
    this.#mark = context.marks.next();
    this.#startedBefore = context.pids.started;
    this.#wrapped = wrapped;
    this.sandboxType = wrapped?.type;
    this.log = new RetainedLog({ ...DEFAULT_LOG_LIMITS, ...spec.log }, this);
    this.#openStreams = spec.stdio.kind === "pty" ? 1 : 2;
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Called once it was started. @throws StartError when it had to be killed again, because the guard could not record it */
  adopt(launched: Launched): void {
    const { pid } = launched;
    this.#launched = launched;
    this.#stdin = launched.stdin;
    this.#pid = pid;
    const status = this.#wrapped?.status;
    this.#target = status === undefined ? new GroupTarget(pid) : createSandboxTarget(pid, status, this.#isTerminal);
    guardGroup(pid, this.#context.guard);
    this.#wrapped?.onBroken?.(() => this.#send("SIGKILL"));
    void status?.started.then((init) => {
      if (init !== undefined && !this.#groupGone) this.#guardInit(init);
    });
  }

  get pid(): number {
    return this.#pid;
  }

  get first(): FirstProcess {
    return { pid: this.#pid, started: this.#startedBefore };
  }

  get outcome(): ProcessOutcome {
    return this.#outcome;
  }

  get denial(): SandboxDenial | undefined {
    return this.#denial;
  }

  get gate(): GateState | undefined {
    return this.#gate;
  }

  /** How it is started with these rules; undefined without any, or where they cannot be held. */
  async openGate({ gate: rules, programQuestions: questions }: ProcessSpec): Promise<SpawnGated | undefined> {
    if (rules === undefined) return undefined;
    const gate = await this.#context.openGate();
    if ("missing" in gate) {
      if (rules.required === true) {
        const reason = `the programs that it starts cannot be judged: ${gate.missing}`;
        throw new StartError("os_error", `nothing was started: ${reason}`);
      }
      this.#gate = { kind: "missing", reason: gate.missing };
      return undefined;
    }
    const mark = this.#mark;
    this.#gate = { kind: "held", reports: [], omitted: 0 };
    this.#endGate = () => gate.end(mark);
    const held: Omit<GatedStart, keyof ChildStart> = {
      mark,
      rules,
      isSandboxed: this.#wrapped !== undefined,
      wrappers: this.#wrapped?.wrappers ?? 0,
      trusted: [],
      questions,
      onReports: (reports, omitted) => {
        this.#gate = { kind: "held", reports, omitted };
      },
      // Nothing judges its programs any more.
      onBroken: () => this.#send("SIGKILL"),
    };
    return (child) =>
      gate.spawn({ ...child, ...held }).catch((error: unknown) => {
        if (error instanceof GateError) void this.#context.dropGate(gate).catch(() => {}); // it has ended
        throw error;
      });
  }

  /** None of its processes is left, or it was not started. */
  endGate(): void {
    this.#endGate();
    this.#endGate = () => {};
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
    if (this.#launched === undefined) throw new ProcessError("exited", "the terminal is gone");
    try {
      this.#launched.resize?.(size);
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
          mark: this.#mark,
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
    if (!this.#disposed) this.#context.onDispose(this.log.heldBytes);
    this.#disposed = true;
    this.#closeStdin();
    for (const source of this.#launched?.sources ?? []) source.close();
    this.log.close();
  }

  checkGroup(): boolean {
    if (!this.#groupGone && !this.#isRunning && !this.#target.exists()) this.#forgetGroup();
    return this.#groupGone;
  }

  mark<T>(start: () => T): T {
    const { marks } = this.#context.native;
    return marks === undefined ? start() : marks.give(this.#mark, start);
  }

  onOutput(stream: OutputStream, bytes: Buffer): void {
    this.#context.outputBytes.value += bytes.length;
    this.log.append(stream, bytes);
  }

  onStreamEnd(): void {
    this.#openStreams -= 1;
    if (this.#isTerminal) this.#closeStdin(); // the terminal is its only stream
    if (this.#openStreams === 0) this.#onStreamsEnded?.();
    this.#closeIfDone();
  }

  onExit(status: ExitStatus): void {
    const wrapped = this.#wrapped;
    if (wrapped === undefined) return this.#finishPlain(status);
    const streamsEnded = new Promise<void>((resolve) => {
      if (this.#openStreams === 0) resolve();
      else this.#onStreamsEnded = resolve;
    });
    const settled = settleSandboxedExit(wrapped, status, { log: this.log, streamsEnded });
    this.#context.onRelease(settled.then((exit) => this.#finishSandboxed(exit)));
  }

  onPressure(pause: boolean): void {
    for (const source of this.#launched?.sources ?? []) pause ? source.pause() : source.resume();
  }

  now(): number {
    return performance.now();
  }

  onDropped(bytes: Buffer): void {
    this.#context.native.readMemory.pipeChunks.release(bytes);
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
    return this.#isRunning && signalProcess(this.#pid, signal);
  }

  #forgetGroup(): void {
    if (this.#groupGone) return;
    this.#groupGone = true;
    this.endGate();
    this.#context.guard.remove(this.#pid);
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

  #finishPlain(status: ExitStatus): void {
    this.#finish(
      "code" in status
        ? { kind: "exited", code: status.code }
        : { kind: "signaled", signal: status.signal, by: this.#blame(status.signal) },
    );
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
    this.#finishPlain(this.#sent?.has(signal) ? { signal } : status);
  }

  #blame(signal: string): EndedBy {
    if (this.#cause !== undefined) return this.#cause;
    if (this.#sent?.has(signal)) return "terminate";
    // A process does not kill itself by SIGKILL: another process did, or the kernel when it was out of memory.
    return signal === "SIGKILL" ? "unknown" : "self";
  }

  #finish(outcome: ProcessOutcome): void {
    this.#outcome = outcome;
    this.#wrapped = undefined;
    this.#sent = undefined;
    this.#onStreamsEnded = undefined;
    this.checkGroup();
    this.#resolveExited?.(outcome);
    this.#resolveExited = undefined;
    this.#closeIfDone();
    this.#context.onExit();
  }

  #closeIfDone(): void {
    if (this.#openStreams > 0 || this.#isRunning) return;
    this.log.finish();
    this.#closeStdin(); // no process reads it any more
    this.#launched = undefined;
    this.#resolveClosed?.();
    this.#resolveClosed = undefined;
  }
}

const MAX_TERMINAL_CELLS = 65_535;

function checkSize({ rows, cols }: TerminalSize): void {
  for (const [name, value] of Object.entries({ rows, cols })) {
    if (!Number.isInteger(value) || value < 1 || value > MAX_TERMINAL_CELLS) {
      throw new ProcessError("bad_size", `${name} must be an integer from 1 to ${MAX_TERMINAL_CELLS}, got ${value}`);
    }
  }
}
