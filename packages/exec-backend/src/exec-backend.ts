import type {
  EndedBy,
  EnvPolicy,
  ProcessOutcome,
  Sandbox,
  SandboxSupport,
  TerminalSize,
} from "@codex/executor-protocol";
import type { TraceContext } from "@codex/telemetry";
import type { OutputLogLimits } from "./limits.js";

import type { OutputLog } from "./output-log/output-log.js";

/** Where processes run: on this host (`createLocalBackend`), or behind an exec-server client. */
export interface ExecBackend {
  /** Applies `ProcessSpec.envPolicy` to the environment of its host. Without it the caller passes the finished environment. */
  readonly appliesEnvPolicy?: true;
  /** Whether `ProcessSpec.sandbox` can be applied here. Absent: it cannot, and such a start is refused. Never rejects. */
  getSandboxSupport?(): Promise<SandboxSupport>;
  /**
   * Starts a process. The caller owns it and ends it with `terminate`, or leaves that to `close`.
   * @throws UnknownStartError when it is not known whether anything was started. Of any other error nothing was: a StartError
   * names the thing that was missing.
   */
  start(spec: ProcessSpec): Promise<ExecProcess>;
  /** Ends every process of this backend and frees it. Idempotent. */
  close(): Promise<void>;
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What to start, and how. */
export interface ProcessSpec {
  /** Program and arguments. The program is looked up in the `PATH` of `env` unless it has a slash. */
  argv: readonly string[];
  /** argv[0] as the program sees it, when it differs. */
  arg0?: string;
  /** Absolute directory. */
  cwd: string;
  /** Exactly the environment of the process. With `envPolicy` it is laid over what that makes. */
  env: Readonly<Record<string, string>>;
  /** Only for a backend with `appliesEnvPolicy`: how to derive a base from the environment of its host. */
  envPolicy?: EnvPolicy;
  stdio: ProcessStdio;
  /** What the process may access; absent for no restriction. One that cannot be enforced is a StartError, and nothing runs. */
  sandbox?: Sandbox;
  /** The trace that the start belongs to. */
  trace?: TraceContext | undefined;
  /** Retention of its output; see `DEFAULT_LOG_LIMITS`. */
  log?: Partial<OutputLogLimits>;
}

/**
 * `pty`: a terminal, whose output is one stream. `pipe`: stdout and stderr apart, and a stdin that is `/dev/null` or open.
 * The default size of a terminal is 24 rows of 80 columns.
 */
export type ProcessStdio = { kind: "pty"; size?: TerminalSize } | { kind: "pipe"; stdin: "null" | "open" };

/** One process, with everything that it starts. */
export interface ExecProcess {
  /** On the host where it runs; undefined when that host does not report it. */
  readonly pid: number | undefined;
  /** Milliseconds, `performance.now()` clock: when the process was started. */
  readonly startedAt: number;
  readonly log: OutputLog;
  /** The sandbox that holds it; absent for none. */
  readonly sandboxType?: SandboxType | undefined;
  /** What the sandbox refused, as far as it is known; final once the process has exited. */
  readonly denial?: SandboxDenial | undefined;
  /** The present state; final once it is not `running`. */
  readonly outcome: ProcessOutcome;
  /** Resolves with the final outcome, as soon as the status is known. Never rejects. */
  readonly exited: Promise<ProcessOutcome>;
  /** Resolves when the output is complete too: exited, and nobody holds the streams. Never rejects. */
  readonly closed: Promise<void>;
  /**
   * Writes to stdin, in the order of the calls. Resolves when every byte is in the kernel's buffer.
   * @throws WriteError `stdin_closed` or `exited`, with the number of bytes that were taken.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Whether the program waits for input at this moment; absent where the host cannot be asked. Never rejects. */
  getInputWait?(): Promise<InputWait>;
  /** End of input: closes the pipe, or sends the terminal's end-of-file character. */
  closeStdin(): Promise<void>;
  /** Sends a signal to the whole group. False when there is nothing left to signal. */
  signal(name: ProcessSignal): Promise<boolean>;
  /** @throws ProcessError `no_terminal` for a process on pipes. */
  resize(size: TerminalSize): Promise<void>;
  /** SIGTERM, grace, SIGKILL, to the group and to what left it. Resolves when all of it is gone, or the last deadline has passed. */
  terminate(options?: TerminateOptions): Promise<TerminationReceipt>;
  /**
   * Frees what is kept for reading: the spill file, and streams that a process outside the group still holds open. Output in
   * memory stays readable. For a process that has ended; idempotent.
   */
  dispose(): void;
}

/** Named as the exec-server protocol does. */
export type SandboxType = "linuxSeccomp" | "macosSeatbelt";

/** Something that a sandbox refused a command. */
export interface SandboxDenial {
  /** False for a guess from the output alone. */
  certain: boolean;
  /** One sentence for a person: what was refused. */
  reason: string;
}

/** Signals that a caller may send. */
export type ProcessSignal = "SIGINT" | "SIGTERM" | "SIGKILL" | "SIGHUP";

/** SIGCONT accompanies a signal that asks a stopped process to end. */
export type SentSignal = ProcessSignal | "SIGCONT";

/** Who ends a process, and how long it may take. */
export interface TerminateOptions {
  /** Who asked; it becomes `by` of the outcome. Default `terminate`. */
  by?: EndedBy;
  /** Milliseconds between SIGTERM and SIGKILL; 0 kills at once. Default 2000. */
  graceMs?: number;
}

/** What was found and done when a process was ended. */
export interface TerminationReceipt {
  /** Whether it had not exited when the request came. */
  running: boolean;
  /** Processes of the group: pid and command name; undefined where the host cannot list them. */
  members: readonly { pid: number; name: string }[] | undefined;
  /** The same for what it started and what has left its group (`setsid`, daemons). */
  strays: readonly { pid: number; name: string }[] | undefined;
  /** Signals that were sent, in order. */
  signals: readonly SentSignal[];
  /** Whether no process of the group is left, nor any that left it. */
  gone: boolean;
  outcome: ProcessOutcome;
}

/**
 * Whether a program waits for input, seen from outside at one moment. `waits`: it is blocked until input comes.
 * `listens`: input is one of the things it is blocked for, as in an event loop. `busy`: neither. `unknown`: this host
 * does not tell, or not this process.
 */
export type InputWait = "waits" | "listens" | "busy" | "unknown";
