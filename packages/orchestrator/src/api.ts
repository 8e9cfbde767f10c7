import type { LiveOutput } from "@codex/executor-client";
import type { LeftCommand, RunCommandRequest, RunningCommand, SessionInput } from "@codex/executor-client/programs";
import type { ToolHooks } from "@codex/hooks";
import type { GetShellParser, PolicyOptions } from "@codex/policy";
import type { Telemetry } from "@codex/telemetry";
import type { Approver } from "./approvals/approver.js";
import type { ApproverPanel } from "./approvals/approver-panel.js";
import type { AuditOptions } from "./audit/audit-trail.js";
import type { CallToolOptions } from "./calls/call-options.js";
import type { Judgement } from "./calls/judge-call.js";
import type { StartCommandOptions } from "./calls/start-command.js";
import type { ToolCall } from "./calls/tool-call.js";
import type { ModelTool } from "./catalog/catalog.js";
import type { EnvironmentSelection } from "./catalog/selection.js";
import type { OrchestratorDefaults } from "./config.js";
import type { Conversation, ConversationOptions } from "./conversation.js";
import type { ConnectedEnvironment } from "./environments/connect-environment.js";
import type { AttachableEnvironment, EnvironmentDescription, EnvironmentOptions } from "./environments/environment.js";
import type { AttachedExecutor, AttachOptions } from "./executors/attached-executor.js";
import type { ExecutorEvents } from "./executors/executor-events.js";
import type { FileToolName } from "./file-tools/specs.js";
import type { FileConnector } from "./files/file-connector.js";
import type { OrchestratorFiles } from "./files/orchestrator-files.js";
import type { Observer } from "./observe/orchestrator-event.js";
import type { StartCommandRequest, StartedCommand } from "./programs/started-command.js";
import type { StructuredOf, ToolCallResult } from "./result.js";

/** Options of `createOrchestrator`. Only `policy` is required. */
export interface OrchestratorOptions extends ExecutorEvents {
  /** Attached in parallel; where order matters it is the order of this list. `ready` settles when all are attached. */
  executors?: readonly AttachOptions[];
  /**
   * Which commands may run, in which sandbox, and when approval is required: `{ approvalPolicy: "on-request" }` runs
   * commands read-only.
   */
  policy: PolicyOptions;
  /** Decides about approvals. Without one, calls that need approval are denied. */
  approver?: Approver;
  defaults?: OrchestratorDefaults;
  /** For `files`: `connectFiles` of `@codex/environments`. Default: no files are accessed. */
  connectFiles?: FileConnector;
  /**
   * The tools for files that models get beside those of executors, in the environments of their commands: false for none. A script of
   * `exec_command` that is a patch is then carried out as one, unless `apply_patch` is left out. Default: all, with `connectFiles`.
   */
  fileTools?: readonly FileToolName[] | false;
  /** Default: loaded with the first script, in about 40 ms. `createLazyShellParser` of `@codex/policy` creates one that can be loaded earlier. */
  shellParser?: GetShellParser;
  /** Records every tool call and every decision of the approver; default none. */
  audit?: AuditOptions;
  /** Receives logs, metrics and spans; default none. */
  telemetry?: Telemetry;
  /** Asked before each call and in place of approvers, and told after it; for example from `createHooks` of `@codex/hooks`. Not closed. Default none. */
  hooks?: ToolHooks;
}

/** Resolves, permits and forwards the tool calls of a model. */
export interface Orchestrator {
  /** Settles when the executors of the options are attached; rejects with the first that could not be. */
  readonly ready: Promise<void>;
  readonly executors: readonly AttachedExecutor[];
  /** Approvers in addition to that of the options, such as a view. */
  readonly approvers: ApproverPanel;
  /** Reports events from now on, for views. Returns a function that stops it. Calls in progress are not reported. */
  observe(observer: Observer): () => void;
  /** @throws OrchestratorError when the executor cannot be reached or does not speak the protocol. */
  attach(options: AttachOptions): Promise<AttachedExecutor>;
  /** Ends the connection to an executor; false if there is none with that name. */
  detach(name: string): Promise<boolean>;
  /**
   * Adds an environment whose executor is attached when a call first needs it, and again when it is offline; until then it has the
   * standard tools of `@codex/executor`. It keeps its place in the order: the first environment is the default. Not owned;
   * `detach` removes it. If it cannot be attached, its calls run nowhere else, unless `fallback` names another environment.
   * @throws OrchestratorError `name_taken`, `bad_option`, `too_many_environments`, `closed`
   */
  addEnvironment(environment: AttachableEnvironment, options?: EnvironmentOptions): void;
  /** All environments, or the selected ones, the default first, described for a model. */
  listEnvironments(selection?: readonly EnvironmentSelection[]): EnvironmentDescription[];
  /**
   * Attaches the executor of an environment for uses other than calls, such as its files. If it cannot be used, attaches its
   * fallback, as `notice` reports, if there is one. Never rejects.
   */
  connectEnvironment(id: string, signal?: AbortSignal): Promise<ConnectedEnvironment>;
  /** Calls of one model, with a selection of environments that lasts from turn to turn. @throws OrchestratorError `unknown_environment` */
  createConversation(options?: ConversationOptions): Conversation;
  /** The tools of all environments, or the selected ones, described for a model. Without an environment there are none. */
  listTools(options?: { environments?: readonly EnvironmentSelection[] }): ModelTool[];
  /**
   * Executes a tool call of a model: resolves it, applies the policy, requests approval, forwards it to an executor.
   * Never rejects because of a model or an executor; `args` is an object or its JSON text.
   */
  callTool<Name extends string>(
    name: Name,
    args: unknown,
    options?: CallToolOptions,
  ): Promise<ToolCallResult<StructuredOf<Name>>>;
  /**
   * Returns what `callTool` would decide about the same call: runs nothing, requests no approval, records nothing, and may be
   * called again. For callers that ask their own user first:
   *
   * ```ts
   * const judged = await orchestrator.judge("exec_command", args);
   * if (judged.kind === "ask" && (await confirm(judged.request.command))) {
   *   await orchestrator.callTool("exec_command", args, { grant: { digest: judged.digest, decision: "accept", by: "client" } });
   * }
   * ```
   * @throws OrchestratorError `bad_option`
   */
  judge(name: string, args: unknown, options?: CallToolOptions): Promise<Judgement>;
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
   * Runs a program on the first executor, or a named one, on behalf of a person: no policy applies.
   * @throws OrchestratorError when there is no such executor or it cannot stream
   */
  runCommand(request: RunCommandRequest, options?: RunCommandOptions): RunningCommand;
  /**
   * Starts a program like `runCommand`, and leaves it: it stays when this orchestrator closes, until it ends, and for some minutes after that it can be
   * read. Rejects when it was not started.
   * @throws OrchestratorError when there is no such executor; ExecutorConnectionError `unsupported` where sessions end with their orchestrator
   */
  startDetached(request: RunCommandRequest, options?: { executor?: string }): Promise<LeftCommand>;
  /**
   * Input of a session of the first executor, or a named one, whoever has started it; on behalf of a person: no policy applies.
   * @throws OrchestratorError when there is no such executor; ExecutorConnectionError `unsupported` for one that is too old
   */
  openSessionInput(sessionId: number, options?: { executor?: string }): SessionInput;
  /**
   * Files on the hosts of executors that serve them, for callers that act for a model:
   *
   * ```ts
   * await orchestrator.files.write("notes.txt", new TextEncoder().encode("hello"), { cwd: "/srv/project" });
   * ```
   */
  readonly files: OrchestratorFiles;
  /**
   * Runs a program for a caller that acts for a model, such as an MCP client or an agent SDK: policy, sandbox, approver and audit log are those of
   * `exec_command`, and the handle is that of `runCommand`. Its session is one of `client`, and no second run outside a sandbox is offered.
   *
   * ```ts
   * const server = orchestrator.startCommand({ argv: ["uvx", "mcp-server-git"], stdin: "open" });
   * const start = await server.started;
   * if (start.kind === "refused") throw new Error(start.result.text);
   * for await (const { bytes } of server.stdout) receive(bytes);
   * ```
   * @throws OrchestratorError `bad_option`
   */
  startCommand(request: StartCommandRequest, options?: StartCommandOptions): StartedCommand;
  /**
   * Detaches all executors, cancels pending attachments, and withdraws open approval requests, whose commands do not run.
   * Resolves once every call has its result, or after `shutdownMs`. Idempotent; never rejects.
   */
  close(): Promise<void>;
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How a program is run. */
export interface RunCommandOptions {
  /** Name of the executor; default: the first that was attached. */
  executor?: string;
  /**
   * Called with live output in order, from the first byte on. A returned promise pauses the program until it settles.
   * `RunningCommand.output` is the same as an iterable.
   */
  onOutput?: (output: LiveOutput) => unknown;
  /**
   * Ends the program and its process group: SIGTERM, after 2 s SIGKILL; `ended` has the outcome. If already aborted, nothing is
   * started.
   */
  signal?: AbortSignal;
}
