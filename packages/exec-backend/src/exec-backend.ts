import type {
  EndedBy,
  EnvPolicy,
  ExecGate,
  HostQuestion,
  HostVerdict,
  ManagedNetwork,
  NetworkDenial,
  ProcessOutcome,
  ProgramQuestion,
  ProgramReport,
  ProgramVerdict,
  ReachedLimit,
  ResourceLimits,
  ResourceUse,
  Sandbox,
  SandboxSupport,
  TerminalSize,
} from "@codex/executor-protocol";
import type { TraceContext } from "@codex/telemetry";
import type { OutputLogLimits } from "./limits.js";

import type { OutputLog } from "./output-log/output-log.js";

/** Runs processes on this host (`createLocalBackend`), or on the host of an exec-server (`createRemoteBackend`). */
export interface ExecBackend {
  /** Applies `ProcessSpec.envPolicy` to the environment of its host. Without it the caller passes the finished environment. */
  readonly appliesEnvPolicy?: true;
  /** Takes `ProcessSpec.gate`. Whether this host can hold it shows with the first such start: see `ExecProcess.gate`. */
  readonly takesGate?: true;
  /** Takes `ProcessSpec.network`, on a host with bubblewrap. */
  readonly takesNetwork?: true;
  /** Whether it holds `ProcessSpec.limits`, or refuses to start. */
  readonly takesLimits?: boolean;
  /** With `takesGate`: opens the gate. Resolves with why programs cannot be judged and compared here; undefined where they can. */
  openGate?(): Promise<string | undefined>;
  /** Whether `ProcessSpec.sandbox` can be applied here. Absent: it cannot, and such a start is an error. Never rejects. */
  getSandboxSupport?(): Promise<HostSandbox>;
  /**
   * Starts a process. The caller owns it and ends it with `terminate`, or leaves that to `close`.
   * @throws UnknownStartError when the process may have been started. With any other error it was not: a StartError names what is
   * missing or wrong.
   * @param signal gives the start up while its host cannot be reached; it is ignored once the host was asked
   */
  start(spec: ProcessSpec, signal?: AbortSignal): Promise<ExecProcess>;
  /** Ends every process of this backend and frees its resources. Idempotent. */
  close(): Promise<void>;
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How a host can sandbox commands now. */
export interface HostSandbox extends SandboxSupport {
  /** Where it could not be tried for lack of resources: the sandbox expected once there are some. `kind` is `none` until then. */
  expected?: "bubblewrap";
}

/** What to start, and how. */
export interface ProcessSpec {
  /** Program and arguments. The program is looked up in the `PATH` of `env` unless it has a slash. */
  argv: readonly string[];
  /** argv[0] as the program sees it, when it differs. */
  arg0?: string;
  /** Absolute directory. */
  cwd: string;
  /** The whole environment of the process. With `envPolicy` it is merged over the result of the policy. */
  env: Readonly<Record<string, string>>;
  /** Only for a backend with `appliesEnvPolicy`: how to derive a base from the environment of its host. */
  envPolicy?: EnvPolicy;
  stdio: ProcessStdio;
  /** What the process may access; absent for no restriction. A sandbox that cannot be enforced is a StartError. */
  sandbox?: Sandbox;
  /** Only for a backend with `takesGate`: rules for every program that the process starts. */
  gate?: ExecGate;
  /**
   * Only for a backend with `takesNetwork`, with `sandbox`: the process has a network with others of its scope and policy, instead of what the sandbox
   * says of it. One that cannot be held is a StartError.
   */
  network?: NetworkSpec;
  /** What the process and all that it starts may use. A limit that cannot be held is a StartError. */
  limits?: ResourceLimits | undefined;
  /** Who is asked about programs that a rule of `gate` asks about; absent: they are refused. */
  programQuestions?: ProgramQuestions | undefined;
  /** The trace that the start belongs to. */
  trace?: TraceContext | undefined;
  /** Retention of its output; see `DEFAULT_LOG_LIMITS`. */
  log?: Partial<OutputLogLimits>;
}

/** The network of a process. */
export interface NetworkSpec extends Omit<ManagedNetwork, "questions" | "reports"> {
  /** Processes share a network where this and the policy are equal. */
  scope: string;
  /** Who is asked about hosts that no rule decides about; absent: they are denied. */
  questions?: HostQuestions | undefined;
  /** Called for each decision about a connection of the process; of equal ones within a second also with how many more there were. */
  onDecision?: ((decision: HostDecision) => void) | undefined;
  /** Called for each end of a connection. One without the proxy tells no process: the latest of its network is told. */
  onEnd?: ((end: HostEnd) => void) | undefined;
}

/** A connection to a host has ended. */
export interface HostEnd extends HostQuestion {
  /** Bytes from the command to the host, and back. */
  readonly sent: number;
  readonly received: number;
  readonly durationMs: number;
}

/** What was decided about a connection. */
export interface HostDecision extends HostQuestion {
  readonly decision: "allow" | "deny";
  /** Who decided: the policy, an answer, one that was remembered, a limit, the name in a TLS handshake; `network`: it was allowed, and not reached. */
  readonly source: "policy" | "asked" | "remembered" | "limit" | "sni" | "network";
  readonly reason?: string | undefined;
  /** The pattern of the rule that decided, and where it stands. */
  readonly rule?: NetworkDenial["rule"];
  readonly count: number;
}

/** For those connections that wait, and no others. */
export type OnceVerdict = "allow_once" | "deny_once";

/** Who is asked about the hosts of a process. */
export interface HostQuestions {
  /** Milliseconds; without an answer until then, a host is denied. */
  readonly timeoutMs: number;
  /** The signal aborts when the answer is not needed any more. A rejection counts as `unasked`. */
  ask(question: HostQuestion, signal: AbortSignal): Promise<HostVerdict | OnceVerdict>;
}

/** Connections that a process was not let to have; `omitted`: how many more. */
export interface NetworkState {
  readonly denied: readonly NetworkDenial[];
  readonly omitted: number;
}

/** Who is asked about the programs of a process. */
export interface ProgramQuestions {
  /** Programs that would raise more questions are refused. */
  readonly most: number;
  /** Milliseconds; without an answer until then, a program is refused. */
  readonly timeoutMs: number;
  /** The signal aborts when the answer is not needed any more. A rejection counts as `unasked`. */
  ask(question: ProgramQuestion, signal: AbortSignal): Promise<ProgramVerdict>;
}

/**
 * `held`: its programs are judged; `reports` are those that did not run as they were called, `omitted` how many more there were. `missing`: they are not, and
 * why, as the end of a sentence.
 */
export type GateState =
  | { readonly kind: "held"; readonly reports: readonly ProgramReport[]; readonly omitted: number }
  | { readonly kind: "missing"; readonly reason: string };

/**
 * `pty`: a terminal, whose output is one stream. `pipe`: separate stdout and stderr, and a stdin that is `/dev/null` or open.
 * The default size of a terminal is 24 rows of 80 columns.
 */
export type ProcessStdio = { kind: "pty"; size?: TerminalSize } | { kind: "pipe"; stdin: "null" | "open" };

/** A process with its descendants. */
export interface ExecProcess {
  /** The pid on the host where it runs; undefined when that host does not report it. */
  readonly pid: number | undefined;
  /** Milliseconds, `performance.now()` clock: when the process was started. */
  readonly startedAt: number;
  readonly log: OutputLog;
  /** The sandbox that it runs in; absent for none. */
  readonly sandboxType?: SandboxType | undefined;
  /** What became of `ProcessSpec.gate`; absent without one. */
  readonly gate?: GateState | undefined;
  /** What became of `ProcessSpec.network` so far; absent without one. */
  readonly network?: NetworkState | undefined;
  /** What it uses, and which of its limits it has reached; absent where it has none, or they are not known. */
  readonly resources?: ResourceState | undefined;
  /** An access that the sandbox denied, if known; final once the process has exited. */
  readonly denial?: SandboxDenial | undefined;
  /** The current state; final once it is not `running`. */
  readonly outcome: ProcessOutcome;
  /** Resolves with the final outcome, as soon as the status is known. Never rejects. */
  readonly exited: Promise<ProcessOutcome>;
  /** Resolves when the process has exited and its output is complete: no process has its streams open. Never rejects. */
  readonly closed: Promise<void>;
  /**
   * Whether everything that it has printed so far is in the log; asks its host, and so waits while that cannot be reached. Undefined where the
   * connection was lost again. Absent where the log is always complete. Never rejects.
   */
  hasReceivedAll?(): Promise<boolean | undefined>;
  /**
   * Writes to stdin, in the order of the calls. Resolves when every byte is in the kernel's buffer.
   * @throws WriteError `stdin_closed` or `exited`, with the number of accepted bytes.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Whether the program waits for input at this moment; absent where the host does not support it. Never rejects. */
  getInputWait?(): Promise<InputWait>;
  /**
   * The current directory of the program that waits for input at this moment; undefined where none waits, or it is not known; absent where
   * the host does not support it. Never rejects.
   */
  getInputDirectory?(): Promise<string | undefined>;
  /** End of input: closes the pipe, or sends the terminal's end-of-file character. */
  closeStdin(): Promise<void>;
  /** Sends a signal to the whole process group. Resolves with false when no process of it is left. */
  signal(name: ProcessSignal): Promise<boolean>;
  /** @throws ProcessError `no_terminal` for a process on pipes. */
  resize(size: TerminalSize): Promise<void>;
  /**
   * Sends SIGTERM, and SIGKILL after the grace, to the process group and to descendants that left it. Resolves when all of
   * them have ended, or the last deadline has passed.
   */
  terminate(options?: TerminateOptions): Promise<TerminationReceipt>;
  /**
   * Frees the spill file, and streams that a process outside the group still has open. Output in
   * memory stays readable. For a process that has ended; idempotent.
   */
  dispose(): void;
}

/** What a process with limits uses, and the limits that it has reached. */
export interface ResourceState {
  readonly use: ResourceUse;
  readonly reached: readonly ReachedLimit[];
}

/** The names of the exec-server protocol. */
export type SandboxType = "linuxSeccomp" | "macosSeatbelt";

/** An access that a sandbox denied to a command. */
export interface SandboxDenial {
  /** False when inferred from the output alone. */
  certain: boolean;
  /** One sentence for a person: what was denied. */
  reason: string;
}

/** Signals that a caller may send. */
export type ProcessSignal = "SIGINT" | "SIGTERM" | "SIGKILL" | "SIGHUP";

/** SIGCONT accompanies a signal that asks a stopped process to end. */
export type SentSignal = ProcessSignal | "SIGCONT";

/** Options of `ExecProcess.terminate`. */
export interface TerminateOptions {
  /** The cause that the outcome reports as `by`. Default `terminate`. */
  by?: EndedBy;
  /** Milliseconds between SIGTERM and SIGKILL; 0 kills immediately. Default 2000. */
  graceMs?: number;
}

/** What `terminate` found, signalled and left. */
export interface TerminationReceipt {
  /** It had not exited when the request arrived. */
  running: boolean;
  /** Processes of the group: pid and command name; undefined where the host cannot list them. */
  members: readonly { pid: number; name: string }[] | undefined;
  /** The same for descendants that left its group (`setsid`, daemons). */
  strays: readonly { pid: number; name: string }[] | undefined;
  /** Signals that were sent, in order. */
  signals: readonly SentSignal[];
  /** No process of the group is left, nor a descendant that left it. */
  gone: boolean;
  outcome: ProcessOutcome;
}

/**
 * Whether a program waits for input at one moment. `waits`: it is blocked until input arrives. `listens`: it is blocked on
 * input among other events, as in an event loop. `busy`: neither. `unknown`: the host does not report it, or not for this
 * process.
 */
export type InputWait = "waits" | "listens" | "busy" | "unknown";
