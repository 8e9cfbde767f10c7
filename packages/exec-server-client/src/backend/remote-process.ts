import { RpcError } from "@codex/channel";
import { type Clock, waitAtMost, withDeadline } from "@codex/clock";
import type {
  ExecProcess,
  NetworkState,
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
import { messageOf } from "@codex/values";
import { ClientError } from "../errors.js";
import type { ProcessEvent } from "../events/process-event.js";
import { MAX_WRITE_CHUNK_BYTES, PEER_PIPE_CHUNK_BYTES, PEER_TERMINAL_CHUNK_BYTES } from "../limits.js";
import type { RunningProcess, WireSignal } from "../remote/running-process.js";
import type { RemoteNetwork } from "./remote-network.js";

/** Output that the server had evicted before it was received. */
export interface MissingOutput {
  /** Offset in the log where it is missing. */
  offset: number;
  /** Number of chunks. Undefined at the end of the log of a lost process. */
  chunks: number | undefined;
  /** Bytes that the log counts for them: an estimate where the server does not report their size, as Codex 0.169.0. */
  bytes?: number;
}

/**
 * A process on the host of an exec-server. Codex 0.169.0 reports only exit codes: a process that died of signal n is
 * `exited` with 128 + n (1 on a terminal), which is passed on as it is. The exit is reported after the output before it,
 * so a slow follower of the log delays it.
 */
export class RemoteProcess implements ExecProcess {
  readonly pid = undefined;
  readonly startedAt = performance.now();
  readonly exited: Promise<ProcessOutcome>;
  readonly closed: Promise<void>;
  readonly #log: WritableOutputLog;
  readonly #stdio: ProcessStdio;
  readonly #clock: Clock;
  readonly #restricted: boolean;
  readonly #network: RemoteNetwork | undefined;
  readonly #missing: MissingOutput[] = [];
  /** Bytes of the last chunk that was received, and of one where none was. */
  #lastChunk = 0;
  readonly #usualChunk: number;
  #running!: RunningProcess;
  #outcome: ProcessOutcome = { kind: "running" };
  #denial: SandboxDenial | undefined;
  #resolveExited!: (outcome: ProcessOutcome) => void;
  #resolveClosed!: () => void;
  #isClosed = false;
  #stdinClosed: boolean;
  /** Writes and the end of input, in the order of the calls. */
  #input: Promise<unknown> = Promise.resolve();
  /** Set while a follower of the log lags behind. */
  #pressure: { lifted: Promise<void>; lift: () => void } | undefined;

  constructor(spec: ProcessSpec, clock: Clock, network?: RemoteNetwork) {
    this.#network = network;
    this.#stdio = spec.stdio;
    this.#restricted = spec.sandbox !== undefined && spec.sandbox.permissions.type !== "disabled";
    this.#clock = clock;
    this.#usualChunk = spec.stdio.kind === "pty" ? PEER_TERMINAL_CHUNK_BYTES : PEER_PIPE_CHUNK_BYTES;
    this.#stdinClosed = spec.stdio.kind === "pipe" && spec.stdio.stdin === "null";
    this.#log = createOutputLog({ ...DEFAULT_LOG_LIMITS, ...spec.log }, (pause) => this.#press(pause));
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Called once, when the process was started. */
  bind(running: RunningProcess): void {
    this.#running = running;
  }

  get log(): OutputLog {
    return this.#log;
  }

  get outcome(): ProcessOutcome {
    return this.#outcome;
  }

  /** As reported by the server. */
  get sandboxType(): SandboxType | undefined {
    const { sandboxType } = this.#running;
    // Codex 0.169.0 reports a sandbox for permissions `disabled` as well.
    if (!this.#restricted || (sandboxType !== "linuxSeccomp" && sandboxType !== "macosSeatbelt")) return undefined;
    return sandboxType;
  }

  /** Never certain: Codex 0.169.0 guesses it from the output. */
  get denial(): SandboxDenial | undefined {
    return this.#denial;
  }

  get network(): NetworkState | undefined {
    return this.#network?.state;
  }

  /** Gaps in order; empty if every byte was received. */
  get missing(): readonly MissingOutput[] {
    return this.#missing;
  }

  /**
   * Consumes an event. While a follower of the log lags, later events of this process are buffered; nothing more is read
   * from the connection once all buffered events reach MAX_UNDELIVERED_BYTES.
   */
  readonly take = (event: ProcessEvent): Promise<void> | undefined => {
    switch (event.kind) {
      case "output":
        this.#lastChunk = event.bytes.length;
        this.#log.append(event.stream, event.bytes);
        return this.#pressure?.lifted;
      case "gap":
        this.#skip(event);
        break;
      case "exited":
        if (event.sandboxDenied) this.#denial = describeDenial(event.outcome);
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

  async hasReceivedAll(): Promise<boolean | undefined> {
    try {
      return await this.#running.hasArrived();
    } catch (error) {
      // It is not known any more there, or the session is lost, which ends the process.
      return error instanceof RpcError ? true : undefined;
    }
  }

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
   * False once it has exited: the protocol does not report whether other processes of the group are left.
   * @throws ProcessError `unsupported` where the server does not support the signal; Codex 0.169.0 supports SIGINT and SIGKILL.
   * `unknown` when its answer was lost
   */
  async signal(name: ProcessSignal): Promise<boolean> {
    if (this.#isClosed) return false;
    // It may have ended because of this signal before the response arrives.
    const wasRunning = this.#outcome.kind === "running";
    try {
      if (name === "SIGKILL") return (await this.#running.terminate(0)).running;
      if (await this.#running.signalIfKnown(WIRE_SIGNALS[name])) return wasRunning;
    } catch (cause) {
      if (cause instanceof RpcError) throw cause;
      throw new ProcessError("unknown", `whether ${name} was sent is not known: ${messageOf(cause)}`, { cause });
    }
    throw new ProcessError("unsupported", `the exec-server cannot send ${name}`);
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
   * The server sends the signals. Codex 0.169.0 has no grace period: it sends SIGKILL immediately, and nothing to a group
   * whose leader has exited. `gone` then means that the process was killed or its output has ended.
   */
  async terminate({ graceMs = DEFAULT_TERMINATE_GRACE_MS }: TerminateOptions = {}): Promise<TerminationReceipt> {
    const running = this.#outcome.kind === "running";
    try {
      const { signals, gone, members, strays, ...answer } = await this.#running.terminate(graceMs);
      // A follower that lags may delay the exit event of a process that had already ended.
      if (answer.running || this.#pressure === undefined) await this.#untilExited();
      else await waitAtMost(this.#clock, DELAYED_EXIT_MS, this.exited);
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
      // Without an answer of the server the program may have read it.
      if (!(cause instanceof RpcError)) throw new WriteError("unknown", written, messageOf(cause), { cause });
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

  /** Whether its exit status is known, unlike that of a lost process. */
  get #hasExited(): boolean {
    return this.#outcome.kind === "exited" || this.#outcome.kind === "signaled";
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#input.then(work);
    this.#input = done.catch(() => {}); // reported to the caller
    return done;
  }

  #skip({ chunks, chunkBytes, endsAt }: Extract<ProcessEvent, { kind: "gap" }>): void {
    const offset = this.#log.end;
    const isKnown = endsAt !== undefined && endsAt >= offset;
    const each = chunkBytes || this.#lastChunk || this.#usualChunk;
    const bytes = isKnown ? endsAt - offset : chunks * each;
    const size = isKnown ? "" : `, and does not report its size: estimated as ${chunks} chunks of ${each} bytes`;
    const reason = `the exec-server had evicted it before it could be read${size}`;
    this.#log.skip({ bytes, reason }, { estimated: !isKnown });
    this.#missing.push({ offset, chunks, bytes });
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

  /** The exit is a notification, which may come after the response to `process/terminate`. */
  #untilExited(): Promise<unknown> {
    const createError = () => new ClientError("invalid_response", "the exit was not reported in time");
    return withDeadline({ clock: this.#clock, ms: KILL_DEADLINE_MS, createError }, () => this.exited);
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

const describeDenial = (outcome: ProcessOutcome | undefined): SandboxDenial =>
  outcome?.kind === "failed_to_start"
    ? { certain: true, reason: outcome.reason }
    : { certain: false, reason: "the exec-server says that its sandbox refused something" };

/** The terminal's end-of-file character, Ctrl-D. */
/** How long `terminate` waits for the exit of a process that had ended before, where a follower lags, milliseconds. */
const DELAYED_EXIT_MS = 1_000;
const END_OF_FILE = Buffer.from([4]);

const WIRE_SIGNALS: Readonly<Record<Exclude<ProcessSignal, "SIGKILL">, WireSignal>> = {
  SIGINT: "interrupt",
  SIGTERM: "terminate",
  SIGHUP: "hangup",
};
