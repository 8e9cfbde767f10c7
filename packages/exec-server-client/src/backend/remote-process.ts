import { RpcError } from "@codex/channel";
import type {
  ExecProcess,
  ProcessSignal,
  ProcessSpec,
  ProcessStdio,
  SandboxDenial,
  SandboxType,
  TerminateOptions,
  TerminationReceipt,
} from "@codex/exec-backend";
import {
  createOutputLog,
  DEFAULT_LOG_LIMITS,
  DEFAULT_TERMINATE_GRACE_MS,
  KILL_DEADLINE_MS,
  MAX_WRITE_BYTES,
  type OutputLog,
  ProcessError,
  type WritableOutputLog,
  WriteError,
} from "@codex/exec-backend";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import type { ProcessOutcome, TerminalSize } from "@codex/executor-protocol";
import { messageOf } from "@codex/telemetry";
import { type ClientClock, withDeadline } from "../clock.js";
import { ClientError } from "../errors.js";
import type { ProcessEvent } from "../events/process-event.js";
import { MAX_WRITE_CHUNK_BYTES } from "../limits.js";
import type { RunningProcess, WireSignal } from "../remote/running-process.js";

/** Output that the server did not have any more. */
export interface MissingOutput {
  /** Offset in the log where it would have been; offsets count what was received alone. */
  offset: number;
  /** How many pieces; their bytes are not known. Undefined at the end of a log whose process was lost. */
  chunks: number | undefined;
}

/**
 * A process behind an exec-server. Codex 0.169.0 knows exit codes alone: a death by signal is `exited` with 128 + the
 * number (1 on a terminal), as the server tells it; nothing is made of it here. The exit is told after the output before it, so who holds back the log holds it back.
 */
export class RemoteProcess implements ExecProcess {
  readonly pid = undefined;
  readonly startedAt = performance.now();
  readonly exited: Promise<ProcessOutcome>;
  readonly closed: Promise<void>;
  readonly #log: WritableOutputLog;
  readonly #stdio: ProcessStdio;
  readonly #clock: ClientClock;
  readonly #restricted: boolean;
  readonly #missing: MissingOutput[] = [];
  #running!: RunningProcess;
  #outcome: ProcessOutcome = { kind: "running" };
  #denial: SandboxDenial | undefined;
  #resolveExited!: (outcome: ProcessOutcome) => void;
  #resolveClosed!: () => void;
  #isClosed = false;
  #stdinClosed: boolean;
  /** Writes and the end of input, in the order of the calls. */
  #input: Promise<unknown> = Promise.resolve();
  /** While somebody who follows the log lags behind. */
  #pressure: { lifted: Promise<void>; lift: () => void } | undefined;

  constructor(spec: ProcessSpec, clock: ClientClock) {
    this.#stdio = spec.stdio;
    this.#restricted = spec.sandbox !== undefined && spec.sandbox.permissions.type !== "disabled";
    this.#clock = clock;
    this.#stdinClosed = spec.stdio.kind === "pipe" && spec.stdio.stdin === "null";
    this.#log = createOutputLog({ ...DEFAULT_LOG_LIMITS, ...spec.log }, (pause) => this.#press(pause));
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Called once, with what its start brought. */
  bind(running: RunningProcess): void {
    this.#running = running;
  }

  get log(): OutputLog {
    return this.#log;
  }

  get outcome(): ProcessOutcome {
    return this.#outcome;
  }

  /** As the server told it. */
  get sandboxType(): SandboxType | undefined {
    const { sandboxType } = this.#running;
    // Codex 0.169.0 names a sandbox for permissions `disabled` too.
    if (!this.#restricted || (sandboxType !== "linuxSeccomp" && sandboxType !== "macosSeatbelt")) return undefined;
    return sandboxType;
  }

  /** What a server tells is a guess: Codex 0.169.0 goes by words in the output. */
  get denial(): SandboxDenial | undefined {
    return this.#denial;
  }

  /** In order; empty when every byte was received. */
  get missing(): readonly MissingOutput[] {
    return this.#missing;
  }

  /**
   * A follower of the log that lags behind holds the events of this process back. They wait in memory, and only when
   * all that wait reach the bound of the client is nothing more read from the connection.
   */
  readonly take = (event: ProcessEvent): Promise<void> | undefined => {
    switch (event.kind) {
      case "output":
        this.#log.append(event.stream, event.bytes);
        return this.#pressure?.lifted;
      case "gap":
        this.#missing.push({ offset: this.#log.end, chunks: event.chunks });
        break;
      case "exited":
        if (event.sandboxDenied)
          this.#denial = { certain: false, reason: "the exec-server says that its sandbox refused something" };
        this.#exit(event.outcome ?? { kind: "exited", code: event.exitCode });
        break;
      case "closed":
        this.#close();
        break;
      case "failed":
        this.#missing.push({ offset: this.#log.end, chunks: undefined });
        this.#exit({ kind: "lost", reason: event.error.message, lastSeq: this.#log.lastSeq });
        this.#close();
        break;
    }
    return undefined;
  };

  write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_WRITE_BYTES) {
      const text = `a write has ${bytes.length} bytes; the limit is ${MAX_WRITE_BYTES} bytes`;
      return Promise.reject(new WriteError("too_large", 0, text));
    }
    return this.#inOrder(() => this.#write(bytes));
  }

  /** On pipes @throws ProcessError `unsupported` where the server cannot, as Codex 0.169.0 */
  closeStdin(): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#stdinClosed || this.#outcome.kind !== "running") return;
      if (this.#stdio.kind === "pty") {
        await this.#running.write(END_OF_FILE);
        return;
      }
      if (!(await this.#running.closeStdin())) {
        throw new ProcessError("unsupported", "the exec-server cannot close the stdin of a process on pipes");
      }
      this.#stdinClosed = true;
    });
  }

  /**
   * False once it has exited: the protocol does not tell whether others of the group are left.
   * @throws ProcessError `unsupported` where the server does not know the signal; Codex 0.169.0 knows SIGINT and SIGKILL
   */
  async signal(name: ProcessSignal): Promise<boolean> {
    if (this.#isClosed) return false;
    if (name === "SIGKILL") return (await this.#running.terminate(0)).running;
    if (!(await this.#running.signalIfKnown(WIRE_SIGNALS[name]))) {
      throw new ProcessError("unsupported", `the exec-server cannot send ${name}`);
    }
    return this.#outcome.kind === "running";
  }

  /** @throws ProcessError `no_terminal`, `bad_size`, `exited`, or `unsupported` where the server cannot, as Codex 0.169.0 */
  async resize(size: TerminalSize): Promise<void> {
    if (this.#stdio.kind !== "pty") throw new ProcessError("no_terminal", "the process has no terminal to resize");
    try {
      if (await this.#running.resize(size)) return;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const code = error.code === ERROR_CODES.invalidParams ? "bad_size" : "exited";
      throw new ProcessError(code, `the terminal was not resized: ${error.message}`, { cause: error });
    }
    throw new ProcessError("unsupported", "the exec-server cannot resize terminals");
  }

  /**
   * The ladder is the server's. Codex 0.169.0 knows no grace: it sends SIGKILL at once, and nothing to a group whose
   * leader has exited. `gone` then means that the process was killed or its output has ended.
   */
  async terminate({ graceMs = DEFAULT_TERMINATE_GRACE_MS }: TerminateOptions = {}): Promise<TerminationReceipt> {
    const running = this.#outcome.kind === "running";
    try {
      const { signals, gone, members, strays, ...answer } = await this.#running.terminate(graceMs);
      // One that had ended before tells its exit late, and to no end of ours while a follower holds it back.
      if (answer.running || this.#pressure === undefined) await this.#untilExited();
      return {
        running: answer.running,
        members,
        strays,
        signals: signals ?? (answer.running ? ["SIGKILL"] : []),
        gone: gone ?? (this.#hasExited && (answer.running || this.#isClosed)),
        outcome: this.#outcome,
      };
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return { running, members: undefined, strays: undefined, signals: [], gone: false, outcome: this.#outcome };
    }
  }

  dispose(): void {
    this.#running.forget();
    this.#log.close();
    if (this.#outcome.kind !== "running") this.#close();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      if (this.#outcome.kind !== "running") throw new WriteError("exited", written, "the process has ended");
      if (this.#stdinClosed) throw new WriteError("stdin_closed", written, "the stdin of the process is closed");
      const chunk = bytes.subarray(written, written + MAX_WRITE_CHUNK_BYTES);
      await this.#send(chunk, written);
      written += chunk.length;
    }
  }

  async #send(chunk: Uint8Array, written: number): Promise<void> {
    const status = await this.#running.write(chunk).catch((cause: unknown) => {
      const text = `after ${written} bytes the write failed: ${messageOf(cause)}`;
      throw new WriteError(this.#hasExited ? "exited" : "os_error", written, text, { cause });
    });
    if (status === "accepted") return;
    if (status === "stdinClosed" && this.#outcome.kind === "running") {
      throw new WriteError("stdin_closed", written, "the stdin of the process is closed");
    }
    if (status === "starting") throw new WriteError("os_error", written, "the process is not started yet");
    throw new WriteError("exited", written, "the process has ended");
  }

  /** And how is known, unlike one that was lost. */
  get #hasExited(): boolean {
    return this.#outcome.kind === "exited" || this.#outcome.kind === "signaled";
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#input.then(work);
    this.#input = done.catch(() => {}); // told whoever asked
    return done;
  }

  #press(pause: boolean): void {
    if (!pause) {
      this.#pressure?.lift();
      this.#pressure = undefined;
      return;
    }
    let lift!: () => void;
    const lifted = new Promise<void>((resolve) => {
      lift = resolve;
    });
    this.#pressure = { lifted, lift };
  }

  /** The exit is told in a message of its own, which may come after the answer that ended the process. */
  #untilExited(): Promise<unknown> {
    const late = () => new ClientError("bad_answer", "the exit was not told in time");
    return withDeadline({ clock: this.#clock, ms: KILL_DEADLINE_MS, late }, () => this.exited);
  }

  #exit(outcome: ProcessOutcome): void {
    if (this.#outcome.kind !== "running") return;
    this.#outcome = outcome;
    this.#resolveExited(outcome);
  }

  #close(): void {
    this.#isClosed = true;
    this.#log.finish();
    this.#resolveClosed();
  }
}

/** The terminal's end-of-file character, Ctrl-D. */
const END_OF_FILE = Buffer.from([4]);

const WIRE_SIGNALS: Readonly<Record<Exclude<ProcessSignal, "SIGKILL">, WireSignal>> = {
  SIGINT: "interrupt",
  SIGTERM: "terminate",
  SIGHUP: "hangup",
};
