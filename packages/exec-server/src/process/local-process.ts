import type { EndedBy, ProcessOutcome, TerminalSize } from "@codex/executor-protocol";
import type { Counter } from "@codex/telemetry";
import type { CommandSandbox, WrappedCommand } from "../sandbox/command-sandbox.js";
import type { LaunchEvents } from "./attach.js";
import type { ExitStatus } from "./children.js";
import { ProcessError, StartError, WriteError } from "./errors.js";
import type { ExecProcess, ProcessSpec, SandboxDenial, SentSignal } from "./exec-backend.js";
import type { Guard } from "./guard.js";
import { getInputWait } from "./input-wait.js";
import { type Launched, launch } from "./launch.js";
import { DEFAULT_LOG_LIMITS, MAX_WRITE_BYTES } from "./limits.js";
import type { Marks } from "./marks.js";
import type { Native } from "./native.js";
import { createOutputLog } from "./output-log.js";
import { signalGroup, signalProcess } from "./process-group.js";
import { type SandboxedExit, settleSandboxedExit } from "./sandboxed-exit.js";
import { createGroupTarget, createSandboxTarget } from "./signal-target.js";
import { getSignalName } from "./signals.js";
import { terminateFamily } from "./terminate.js";

/** A process of this host, and what its backend needs to look after it. */
export interface LocalProcess extends ExecProcess {
  /** Looks whether the group is empty by now; true once it is. */
  checkGroup(): boolean;
}

export interface LocalContext {
  native: Native;
  guard: Guard;
  marks: Marks;
  sandbox: CommandSandbox;
  outputBytes: Counter;
  onExit(): void;
  /** What still has to be given back after the end of a process; never rejects. */
  onRelease(released: Promise<void>): void;
}

/** Starts a process of its own session. @throws StartError */
export async function startLocalProcess(spec: ProcessSpec, file: string, context: LocalContext): Promise<LocalProcess> {
  const wrapped = await wrapSpec(spec, file, context.sandbox);
  try {
    return await startWrapped(spec, file, wrapped, context);
  } catch (error) {
    if (wrapped !== undefined) context.onRelease(wrapped.release());
    throw error;
  } finally {
    wrapped?.detach();
  }
}

/** @throws StartError for a sandbox that cannot be made */
async function wrapSpec(spec: ProcessSpec, file: string, sandbox: CommandSandbox): Promise<WrappedCommand | undefined> {
  if (spec.sandbox === undefined) return undefined;
  const session = spec.stdio.kind === "pty" ? "terminal" : "new";
  const { argv, arg0, cwd, env } = spec;
  return sandbox.wrap({ argv, file, cwd, env, session, ...(arg0 === undefined ? {} : { arg0 }) }, spec.sandbox);
}

async function startWrapped(
  spec: ProcessSpec,
  file: string,
  wrapped: WrappedCommand | undefined,
  context: LocalContext,
): Promise<LocalProcess> {
  // What stays readable after its end must not keep the whole environment of the process.
  const { stdio } = spec;
  const press = (pause: boolean) => {
    for (const source of launched.sources) pause ? source.pause() : source.resume();
  };
  const { chunks } = context.native.readMemory;
  const log = createOutputLog({ ...DEFAULT_LOG_LIMITS, ...spec.log }, press, undefined, (bytes) =>
    chunks.release(bytes),
  );
  const { promise: exited, resolve: resolveExited } = withResolvers<ProcessOutcome>();
  const { promise: closed, resolve: resolveClosed } = withResolvers<void>();
  const { promise: streamsEnded, resolve: endStreams } = withResolvers<void>();
  let outcome: ProcessOutcome = { kind: "running" };
  let denial: SandboxDenial | undefined;
  /** Who asked for the end first; what a death by signal is put down to. */
  let cause: EndedBy | undefined;
  const sent = new Set<string>();
  const mark = context.marks.next();
  let openStreams = stdio.kind === "pty" ? 1 : 2;
  let groupGone = false;

  const closeIfDone = () => {
    if (openStreams > 0 || outcome.kind === "running") return;
    log.finish();
    launched.sources.length = 0; // they have ended, and are not kept for as long as the log is
    launched.stdin.close(); // nobody is left to read it, and a descriptor is not kept for as long as the log is
    resolveClosed();
  };
  const blame = (signal: string): EndedBy => {
    if (cause !== undefined) return cause;
    if (sent.has(signal)) return "terminate";
    // A process cannot be its own cause of SIGKILL: somebody else, or the kernel short of memory, was.
    return signal === "SIGKILL" ? "unknown" : "self";
  };
  const checkGroup = () => {
    if (!groupGone && outcome.kind !== "running" && !target.exists()) {
      groupGone = true;
      context.guard.remove(launched.pid);
    }
    return groupGone;
  };
  const startedAt = performance.now();
  const finish = (final: ProcessOutcome) => {
    outcome = final;
    checkGroup();
    resolveExited(outcome);
    closeIfDone();
    context.onExit();
  };
  const finishPlain = (status: ExitStatus) =>
    finish(
      "code" in status
        ? { kind: "exited", code: status.code }
        : { kind: "signaled", signal: status.signal, by: blame(status.signal) },
    );
  const finishSandboxed = ({ status, denial: found }: SandboxedExit) => {
    denial = status === undefined && sent.size > 0 ? undefined : found;
    if (status === undefined) {
      // A signal of ours came before the program: that is what ended it.
      const [first] = sent;
      if (first !== undefined) return finishPlain({ signal: first });
      return finish({ kind: "failed_to_start", reason: found?.reason ?? "in the sandbox" });
    }
    // A death by signal is told as 128 + its number, as programs do that exit so themselves: taken for what was sent.
    const signal = "code" in status && status.code > 128 ? getSignalName(status.code - 128) : "";
    finishPlain(sent.has(signal) ? { signal } : status);
  };
  const events: LaunchEvents = {
    onOutput: (stream, bytes) => {
      context.outputBytes.value += bytes.length;
      log.append(stream, bytes);
    },
    onStreamEnd: () => {
      openStreams -= 1;
      if (openStreams === 0) endStreams();
      closeIfDone();
    },
    onExit: (status) => {
      if (wrapped === undefined) return finishPlain(status);
      const settled = settleSandboxedExit(wrapped, status, { log, streamsEnded }).then(finishSandboxed);
      context.onRelease(settled);
    },
    mark: (start) => (context.native.marks === undefined ? start() : context.native.marks.give(mark, start)),
  };
  const launched: Launched = await launch(spec, file, context.native, events, wrapped);
  const target =
    wrapped?.status === undefined
      ? createGroupTarget(launched.pid)
      : createSandboxTarget(launched.pid, wrapped.status, stdio.kind === "pty");
  guardGroup(launched.pid, context.guard);

  const sendSignal = (signal: SentSignal): boolean => {
    if (checkGroup()) return false;
    if (outcome.kind === "running") sent.add(signal);
    if (target.send(signal)) return true;
    // Between fork and setsid the group does not exist yet, but the process does.
    return outcome.kind === "running" && signalProcess(launched.pid, signal);
  };

  return {
    pid: launched.pid,
    ...(wrapped === undefined ? {} : { sandboxType: wrapped.type }),
    startedAt,
    log,
    get denial() {
      return denial;
    },
    get outcome() {
      return outcome;
    },
    exited,
    closed,
    async write(bytes) {
      if (bytes.length > MAX_WRITE_BYTES) {
        throw new WriteError(
          "too_large",
          0,
          `a write has ${bytes.length} bytes; the limit is ${MAX_WRITE_BYTES} bytes`,
        );
      }
      await launched.stdin.write(bytes);
    },
    getInputWait: async () => {
      const program = target.getProgram();
      return program === undefined ? "unknown" : getInputWait(program, stdio);
    },
    closeStdin: () => launched.stdin.end(),
    signal: async (name) => sendSignal(name),
    async resize(size) {
      checkSize(size);
      if (launched.resize === undefined) throw new ProcessError("no_terminal", "the process has no terminal to resize");
      try {
        launched.resize(size);
      } catch (error) {
        throw new ProcessError("exited", "the terminal is gone", { cause: error });
      }
    },
    terminate(options = {}) {
      const running = outcome.kind === "running";
      if (running) cause ??= options.by ?? "terminate";
      return terminateFamily({
        running,
        ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
        polite: stdio.kind === "pty" ? ["SIGHUP", "SIGTERM"] : ["SIGTERM"],
        family: target.watch(
          // The number of a group that is gone may be somebody else's by now.
          { getGroup: () => (checkGroup() ? undefined : target.getGroup()), marks: context.marks, mark },
          context.native,
        ),
        send: sendSignal,
        isGone: checkGroup,
        exited,
        getOutcome: () => outcome,
        onGone: () => {
          if (groupGone) return;
          groupGone = true;
          context.guard.remove(launched.pid);
        },
      });
    },
    dispose() {
      launched.stdin.close();
      for (const source of launched.sources) source.close();
      log.close();
    },
    checkGroup,
  };
}

/** A process that nobody would end after us is not left running. @throws StartError */
function guardGroup(pgid: number, guard: Guard): void {
  try {
    guard.add(pgid);
  } catch (cause) {
    signalGroup(pgid, "SIGKILL") || signalProcess(pgid, "SIGKILL");
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new StartError("os_error", `the process was not started: its end could not be provided for: ${detail}`, {
      cause,
    });
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

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
