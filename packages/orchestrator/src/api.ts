import type { Channel } from "@codex/channel";
import type { HostInfo, ProcessOutcome } from "@codex/executor-protocol";
import type { PolicyOptions } from "@codex/policy";
import type { Telemetry } from "@codex/telemetry";
import type { Approver } from "./approvals/approver.js";
import type { AuditOptions } from "./audit/audit-trail.js";
import type { CallToolOptions } from "./calls/call-tool.js";
import type { ModelTool } from "./catalog/catalog.js";
import type { OrchestratorDefaults } from "./config.js";
import type { Connector, InitializeOptions } from "./executors/executor-connection.js";
import type { LiveOutput } from "./executors/live-output.js";
import type { ProtocolProblem } from "./executors/problems.js";
import type { RunCommandRequest, RunningCommand } from "./programs/run-command.js";
import type { AnyStructured, StructuredOf, ToolCallResult } from "./result.js";

/** What an orchestrator is made of. Only `policy` has to be given. */
export interface OrchestratorOptions {
  /** Attached in parallel; where order matters it is the order of this list. `ready` settles when all are attached. */
  executors?: readonly AttachOptions[];
  /**
   * Which commands run, in which sandbox, and when the approver is asked: `{ approvalPolicy: "on-request" }` runs
   * commands read-only.
   */
  policy: PolicyOptions;
  /** Asked for approval; without one, what needs approval is denied. */
  approver?: Approver;
  defaults?: OrchestratorDefaults;
  /** Records every tool call and every decision of the approver; default none. */
  audit?: AuditOptions;
  /** Receives logs, metrics and spans; default none. */
  telemetry?: Telemetry;
  /** Called with each message of an executor that violates the protocol. */
  onProblem?: (problem: ProtocolProblem) => void;
  /** Called when the tools of an attached executor have changed: call `listTools` again. */
  onToolsChanged?: (executor: string) => void;
  /** Called when a session has ended, whether or not anybody polls it. */
  onSessionExited?: (session: { executor: string; sessionId: number; outcome: ProcessOutcome }) => void;
  /**
   * Called when the channel of an executor has ended; the executor stays attached. While `reconnecting`, calls wait for
   * another channel; otherwise they are answered with the reason. Called again when reconnecting was given up.
   */
  onOffline?: (executor: string, reason: string, reconnecting: boolean) => void;
  /** Called when an executor is connected again. `resumed`: its sessions are kept; otherwise they are lost, for `reason`. */
  onOnline?: (executor: string, back: { resumed: true } | { resumed: false; reason: string }) => void;
}

/** An executor to attach. Either `channel` or `reconnect` has to be given. */
export interface AttachOptions {
  /**
   * Environment name that models use for this executor: 1 to 64 letters, digits and `_.-`. Attaching under the name of
   * an executor that is offline replaces it.
   */
  name: string;
  /** Owned from now on: closed when attaching fails, by `detach` and by `close`. Default: `reconnect` opens it. */
  channel?: Channel | Promise<Channel>;
  /**
   * Opens another channel when the current one is lost. Called again, with exponential backoff and full jitter, for as
   * long as the executor keeps the sessions. Output continues without loss or repetition; calls wait meanwhile.
   */
  reconnect?: Connector;
  /** `false`: speak the base messages only. */
  initialize?: InitializeOptions | false;
  /** Aborts attaching, and closes the channel; has no effect once the executor is attached. */
  signal?: AbortSignal;
  /** Send `shutdown` before closing, so that the executor ends its sessions and itself. Default true. */
  shutdownOnClose?: boolean;
}

/** An executor as its user sees it. */
export interface AttachedExecutor {
  readonly name: string;
  /** Undefined for one that knows only the base messages. */
  readonly host: HostInfo | undefined;
  /** For `initialize.resumeSessionId`, after the channel was lost. */
  readonly sessionId: string | undefined;
  /** Why it is offline; undefined while it is connected or reconnecting. */
  readonly offlineReason: string | undefined;
  /** Why the channel was lost, while reconnecting; otherwise undefined. */
  readonly reconnectingReason: string | undefined;
  /** The newest protocol violations, at most `limits.problemsKept`. */
  readonly problems: readonly ProtocolProblem[];
  /** Number of all of them, those included that are not kept. */
  readonly problemCount: number;
  /** Whether `openExecServer` is offered; known once it is attached. */
  readonly servesFiles: boolean;
  /**
   * Opens a channel to the exec-server beside this executor: files, HTTP and processes of its host, for programs. No policy
   * is consulted. The channel ends with the one to the executor; another can be opened once that is back, and a session
   * of the exec-server resumed over it. The caller owns it; `signal` gives up opening it.
   * @throws OrchestratorError `unsupported` where the executor serves tools alone, `exec_server_failed`, `closed`
   */
  openExecServer(options?: { signal?: AbortSignal }): Promise<Channel>;
}

/** Resolves, permits and forwards the tool calls of a model. */
export interface Orchestrator {
  /** Settles when the executors of the options are attached; rejects with the first that could not be. */
  readonly ready: Promise<void>;
  readonly executors: readonly AttachedExecutor[];
  /** @throws OrchestratorError when the executor cannot be reached or does not speak the protocol. */
  attach(options: AttachOptions): Promise<AttachedExecutor>;
  /** Ends the connection to an executor; false when there is none of that name. */
  detach(name: string): Promise<boolean>;
  /** The tools of all executors, described for a model. */
  listTools(): ModelTool[];
  /**
   * Carries out a tool call of a model: resolves it, applies the policy, asks the approver, forwards it to an executor.
   * Never rejects for what a model or an executor did; `args` is an object or its JSON text.
   */
  callTool<Name extends string>(
    name: Name,
    args: unknown,
    options?: CallToolOptions,
  ): Promise<ToolCallResult<StructuredOf<Name>>>;
  /**
   * `callTool`, with the live output as an async iterable for one reader:
   *
   * ```ts
   * const call = orchestrator.startCall("exec_command", { cmd: "make test" });
   * for await (const { bytes } of call.output) process.stdout.write(bytes);
   * const { text } = await call.result;
   * ```
   */
  startCall<Name extends string>(name: Name, args: unknown, options?: CallToolOptions): ToolCall<StructuredOf<Name>>;
  /**
   * Runs a program on the first executor, or a named one, for the person who asked for it: no policy is consulted.
   * @throws OrchestratorError when there is no such executor or it cannot stream
   */
  runCommand(request: RunCommandRequest, options?: RunCommandOptions): RunningCommand;
  /**
   * Detaches everything, gives up what is being attached, and withdraws open questions: their commands do not run.
   * Resolves once every call has its result, or after `shutdownMs`. Idempotent; never rejects.
   */
  close(): Promise<void>;
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A tool call that is under way. */
export interface ToolCall<Structured = AnyStructured> {
  /**
   * Live output from the first byte on, for one loop. A loop that has begun holds the executor back instead of losing
   * output; leaving it (`break`) lets the call go on without a reader. The loop ends before `result` resolves, and never
   * throws. Of a call whose `result` is awaited before a loop has begun, about 1 MiB is kept; `dropped` of a piece
   * is the range that is missing before it.
   */
  readonly output: AsyncIterable<LiveOutput>;
  /** As `callTool`: never rejects for what a model or an executor did. Needs no reader of `output`. */
  readonly result: Promise<ToolCallResult<Structured>>;
}

/** How a program is run. */
export interface RunCommandOptions {
  /** Name of the executor; default: the first that was attached. */
  executor?: string;
  /**
   * Called with live output in order, from the first byte on. A promise it returns holds the program back until it
   * settles. `RunningCommand.output` is the same as an iterable.
   */
  onOutput?: (output: LiveOutput) => unknown;
  /**
   * Ends the program and its process group: SIGTERM, after 2 s SIGKILL; `ended` tells how it ended. Already aborted:
   * nothing is started.
   */
  signal?: AbortSignal;
}
