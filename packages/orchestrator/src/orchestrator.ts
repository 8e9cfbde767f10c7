import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { type Clock, systemClock, waitAtMost, waitUnlessAborted } from "@codex/clock";
import {
  type LeftCommand,
  LiveOutputStream,
  openSessionInput,
  type RunCommandRequest,
  type RunningCommand,
  runCommand,
  type SessionInput,
  SplitOutput,
  startDetached,
  teeOutput,
} from "@codex/executor-client/programs";
import type { PolicyOptions } from "@codex/policy";
import type { Orchestrator, OrchestratorOptions, RunCommandOptions } from "./api.js";
import type { ApproverPanel } from "./approvals/approver-panel.js";
import { Auditor } from "./audit/audit-trail.js";
import type { AskingCommands } from "./calls/asking-commands.js";
import type { CallPorts } from "./calls/call-context.js";
import type { CallToolOptions } from "./calls/call-options.js";
import { checkOptions } from "./calls/check-options.js";
import { isForDisplay } from "./calls/display.js";
import type { HostReports } from "./calls/host-reports.js";
import type { Judgement } from "./calls/judge-call.js";
import { createKeySeries } from "./calls/key-series.js";
import { KeyedCalls } from "./calls/keyed-calls.js";
import type { StartCommandOptions } from "./calls/start-command.js";
import type { ToolCall } from "./calls/tool-call.js";
import { Catalog, type ModelTool } from "./catalog/catalog.js";
import { checkSelection, type EnvironmentSelection } from "./catalog/selection.js";
import { type Config, resolveConfig } from "./config.js";
import { type Conversation, type ConversationOptions, createConversation } from "./conversation.js";
import { Attachments } from "./environments/attachments.js";
import { connectEnvironment } from "./environments/connect-environment.js";
import { describeEnvironments } from "./environments/describe.js";
import type { AttachableEnvironment, EnvironmentDescription, EnvironmentOptions } from "./environments/environment.js";
import { EnvironmentTable } from "./environments/environment-table.js";
import { closedError, OrchestratorError, toOrchestratorError } from "./errors.js";
import { type AttachedExecutor, type AttachOptions, describeExecutor } from "./executors/attached-executor.js";
import { describeSession } from "./executors/describe-session.js";
import { SessionTable } from "./executors/sessions.js";
import type { FileTools } from "./file-tools/file-tools.js";
import type { OrchestratorFiles } from "./files/orchestrator-files.js";
import { Observers } from "./observe/observers.js";
import type { Observer } from "./observe/orchestrator-event.js";
import { reportEvents } from "./observe/report-events.js";
import { JudgedCommand, type Started } from "./programs/judged-command.js";
import type { StartCommandRequest, StartedCommand } from "./programs/started-command.js";
import { closedBeforeSending, fail, type RefusedCall, type StructuredOf, type ToolCallResult } from "./result.js";

type CoreOptions = Omit<OrchestratorOptions, "policy"> &
  Collaborators & {
    /** Names of the permission profiles that a model may ask for. */
    permissionProfiles?: readonly string[];
  };

/** Dependencies that tests replace: time and randomness. */
export interface Collaborators {
  /** Default: the clock of this process. */
  clock?: Clock;
  /** Creates unique ids; default random UUIDs. */
  newId?: () => string;
  /** Jitter of attempts to reconnect: a number in [0, 1), default `Math.random`. */
  jitter?: () => number;
}

/** Executes a tool call of a model. */
type HandleCall = (name: string, args: unknown, options: CallToolOptions) => Promise<ToolCallResult>;

/** Executes calls and checks policies. */
export interface CallHandler {
  handle: HandleCall;
  judge(name: string, args: unknown, options: CallToolOptions): Promise<Judgement>;
  /** Files, subject to the policy. */
  files: OrchestratorFiles;
  readonly fileTools: Pick<FileTools, "list"> | undefined;
  start(request: StartCommandRequest, options: StartCommandOptions, output: SplitOutput): Promise<Started>;
  readonly approvers: ApproverPanel;
  /** Commands whose programs and hosts may be asked about. */
  readonly askingCommands: Pick<AskingCommands, "answerProgram" | "answerHost" | "remove">;
  readonly hostReports: Pick<HostReports, "note">;
  /** @throws OrchestratorError `bad_option` */
  checkPolicy(policy: PolicyOptions): void;
}

/** Dependencies that calls share with the rest of the orchestrator. */
export type Shared = Pick<
  CallPorts,
  "config" | "clock" | "catalog" | "environments" | "sessions" | "newKey" | "closing" | "auditor" | "observers"
> & {
  /** Creates a unique id. */
  newId: () => string;
  /** Waits for the executors of the options, or until the signal aborts. */
  untilReady: (signal: AbortSignal | undefined) => Promise<void>;
};

/** Everything except the handling of tool calls, which is injected: `runCommand` and `listTools` do not need it. */
export class OrchestratorCore implements Orchestrator {
  readonly ready: Promise<void>;
  readonly approvers: ApproverPanel;
  readonly #observers = new Observers();
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #catalog = new Catalog();
  readonly #sessions: SessionTable;
  readonly #newKey: () => string;
  readonly #auditor: Auditor;
  readonly #handler: CallHandler;
  readonly #environments: EnvironmentTable;
  readonly #attachments: Attachments;
  readonly #inFlight = new Set<Promise<unknown>>();
  /** Reads for display in progress. */
  readonly #displayed = new Set<Promise<unknown>>();
  readonly #keyedCalls: KeyedCalls;
  /** Aborts when it is closed. */
  readonly #close = new AbortController();
  #isReady = false;
  #closing: Promise<void> | undefined;

  constructor(options: CoreOptions, createHandler: (shared: Shared) => CallHandler) {
    const { newId = randomUUID, jitter = Math.random } = options;
    this.#config = resolveConfig(options.defaults, options.permissionProfiles);
    this.#clock = options.clock ?? systemClock;
    this.#sessions = new SessionTable(this.#config.limits.rememberedSessions);
    this.#keyedCalls = new KeyedCalls(this.#config.limits);
    this.#newKey = createKeySeries(newId());
    this.#auditor = new Auditor(options.audit, newId);
    // Per waiting call.
    setMaxListeners(0, this.#close.signal);
    this.#environments = new EnvironmentTable(this, this.#close.signal);
    this.#attachments = new Attachments({
      events: reportEvents(options, this.#observers),
      config: this.#config,
      clock: this.#clock,
      newId,
      jitter,
      catalog: this.#catalog,
      sessions: this.#sessions,
      environments: this.#environments,
      closing: this.#close.signal,
      answerProgram: (question, signal) => this.#handler.askingCommands.answerProgram(question, signal),
      answerHost: (question, signal) => this.#handler.askingCommands.answerHost(question, signal),
      noteHosts: (report) => this.#handler.hostReports.note(report),
      forgetQuestions: (key) => this.#handler.askingCommands.remove(key),
    });
    this.#handler = createHandler({
      config: this.#config,
      clock: this.#clock,
      untilReady: (signal) => this.#untilReady(signal),
      catalog: this.#catalog,
      environments: this.#environments,
      sessions: this.#sessions,
      newId,
      newKey: this.#newKey,
      closing: this.#close.signal,
      auditor: this.#auditor,
      observers: this.#observers,
    });
    this.approvers = this.#handler.approvers;
    this.ready = this.#attachments.attachAll(options.executors ?? []);
    // Callers that do not await `ready` get the failure from their calls.
    void this.ready
      .catch(() => {})
      .then(() => {
        this.#isReady = true;
      });
  }

  observe(observer: Observer): () => void {
    return this.#observers.add(observer);
  }

  get executors(): AttachedExecutor[] {
    return this.#catalog.attached.map(describeExecutor);
  }

  async attach(options: AttachOptions): Promise<AttachedExecutor> {
    const attached = await this.#attachments.attach(options);
    this.#observers.emit({ type: "environments_changed" });
    return attached;
  }

  async detach(name: string): Promise<boolean> {
    const wasThere = await this.#attachments.detach(name);
    this.#observers.emit({ type: "environments_changed" });
    return wasThere;
  }

  addEnvironment(environment: AttachableEnvironment, options: EnvironmentOptions = {}): void {
    const { id } = environment;
    const { policy, fallback } = options;
    const taken = this.#environments.has(id) || this.#catalog.get(id) !== undefined;
    const refusal = taken
      ? new OrchestratorError("name_taken", `there is an environment \`${id}\``)
      : (this.#attachments.refusal(id) ?? this.#environments.refusal(this.#config.limits));
    if (refusal !== undefined) throw refusal;
    if (fallback === id) throw new OrchestratorError("bad_option", `environment \`${id}\` is its own fallback`);
    if (policy !== undefined) this.#handler.checkPolicy(policy);
    this.#environments.add(environment, options);
    this.#catalog.expect(id);
    this.#observers.emit({ type: "environments_changed" });
  }

  listEnvironments(selection?: readonly EnvironmentSelection[]): EnvironmentDescription[] {
    return describeEnvironments(this.#catalog, this.#environments, this.#config, selection);
  }

  connectEnvironment = (id: string, signal?: AbortSignal) =>
    connectEnvironment(id, { catalog: this.#catalog, environments: this.#environments }, signal);

  createConversation(options: ConversationOptions = {}): Conversation {
    const caller = {
      listTools: this.listTools.bind(this),
      listEnvironments: this.listEnvironments.bind(this),
      callTool: this.callTool.bind(this),
      judge: this.judge.bind(this),
      startCall: this.startCall.bind(this),
      describeSession: this.#describeSession.bind(this),
    };
    return createConversation(caller, options, (selection) => checkSelection(selection, this.#catalog.names()));
  }

  #describeSession(id: number, client: string | undefined) {
    const session = this.#sessions.get(id);
    const isKnown = session !== undefined && (client === undefined || session.client === client);
    return isKnown ? describeSession(session, this.#catalog) : undefined;
  }

  listTools({ environments }: { environments?: readonly EnvironmentSelection[] } = {}): ModelTool[] {
    const own = this.#handler.fileTools?.list(this.#catalog, environments) ?? [];
    return [...this.#catalog.list(this.#config, environments), ...own];
  }

  callTool<Name extends string>(
    name: Name,
    args: unknown,
    options?: CallToolOptions,
  ): Promise<ToolCallResult<StructuredOf<Name>>>;
  async callTool(name: string, args: unknown, options: CallToolOptions = {}): Promise<ToolCallResult> {
    const { idempotencyKey, client } = options;
    checkOptions(options);
    if (idempotencyKey === undefined) return this.#startCall(name, args, options);
    return this.#keyedCalls.run({ key: idempotencyKey, client }, name, args, () =>
      this.#startCall(name, args, options),
    );
  }

  async judge(name: string, args: unknown, options: CallToolOptions = {}): Promise<Judgement> {
    checkOptions(options);
    if (!this.#isReady) await this.#untilReady(options.signal);
    if (this.#close.signal.aborted) return { kind: "rejected", result: closedBeforeSending() };
    return this.#handler.judge(name, args, options);
  }

  async #startCall(name: string, args: unknown, options: CallToolOptions): Promise<ToolCallResult> {
    if (isForDisplay(name, options)) {
      return this.#refuseDisplay() ?? this.#count(this.#callTool(name, args, options), this.#displayed);
    }
    return this.#refuseCall() ?? this.#count(this.#callTool(name, args, options));
  }

  /** Why a call cannot be made now. */
  #refuseCall(): RefusedCall | undefined {
    if (this.#closing !== undefined) return fail("closed", "the orchestrator is closed. Nothing was run.");
    const { inFlightCalls } = this.#config.limits;
    if (this.#inFlight.size < inFlightCalls) return undefined;
    const reason = `${this.#inFlight.size} tool calls are in progress (limit ${inFlightCalls} calls); wait for one to complete`;
    return fail("too_many_calls", `${reason}. Nothing was run.`);
  }

  /** Reads for display have room of their own: pages that wait for output must not keep a model from calling tools. */
  #refuseDisplay(): RefusedCall | undefined {
    if (this.#closing !== undefined) return fail("closed", "the orchestrator is closed. Nothing was run.");
    const { displayCalls } = this.#config.limits;
    if (this.#displayed.size < displayCalls) return undefined;
    const reason = `${this.#displayed.size} reads for display are in progress (limit ${displayCalls} calls)`;
    return fail("too_many_calls", `${reason}; wait for one to complete. Nothing was run.`);
  }

  async #count<T>(call: Promise<T>, calls: Set<Promise<unknown>> = this.#inFlight): Promise<T> {
    calls.add(call);
    try {
      return await call;
    } finally {
      calls.delete(call);
    }
  }

  get files(): OrchestratorFiles {
    return this.#handler.files;
  }

  startCommand(request: StartCommandRequest, options: StartCommandOptions = {}): StartedCommand {
    checkOptions(options);
    const output = new SplitOutput(options.onOutput);
    const refused = this.#refuseCall();
    const starting =
      refused === undefined
        ? this.#count(this.#startCommand(request, options, output))
        : Promise.resolve({ start: { kind: "refused" as const, result: refused } });
    return new JudgedCommand(starting, output, options.signal);
  }

  async #startCommand(
    request: StartCommandRequest,
    options: StartCommandOptions,
    output: SplitOutput,
  ): Promise<Started> {
    if (!this.#isReady) await this.#untilReady(options.signal);
    if (this.#close.signal.aborted) return { start: { kind: "refused", result: closedBeforeSending() } };
    return this.#handler.start(request, options, output);
  }

  startCall<Name extends string>(
    name: Name,
    args: unknown,
    options: CallToolOptions = {},
  ): ToolCall<StructuredOf<Name>> {
    const output = new LiveOutputStream();
    const onOutput = teeOutput(output, options.onOutput);
    const result = this.callTool(name, args, { ...options, onOutput }).finally(() => output.end());
    return {
      output,
      get result() {
        output.stopHolding("while read");
        return result;
      },
    };
  }

  /** Calls wait for the executors of the options. */
  async #callTool(name: string, args: unknown, options: CallToolOptions): Promise<ToolCallResult> {
    if (!this.#isReady) await this.#untilReady(options.signal);
    if (this.#close.signal.aborted) return closedBeforeSending();
    return this.#handler.handle(name, args, options);
  }

  async #untilReady(signal: AbortSignal | undefined): Promise<void> {
    const closing = this.#close.signal;
    const over = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    const ready = this.ready.catch(() => {});
    await waitUnlessAborted(over, ready);
  }

  runCommand(request: RunCommandRequest, { executor, onOutput, signal }: RunCommandOptions = {}): RunningCommand {
    return runCommand(this.#require(executor), request, { ...this.#programHooks, onOutput, signal });
  }

  async startDetached(request: RunCommandRequest, { executor }: { executor?: string } = {}): Promise<LeftCommand> {
    return startDetached(this.#require(executor), request, this.#programHooks);
  }

  openSessionInput(sessionId: number, { executor }: { executor?: string } = {}): SessionInput {
    return openSessionInput(this.#require(executor), sessionId, this.#programHooks);
  }

  get #programHooks() {
    const { answerMarginMs } = this.#config.timings;
    const unfollowed = { onOutput: undefined, signal: undefined };
    return { answerMarginMs, newKey: this.#newKey, clock: this.#clock, toError: toOrchestratorError, ...unfollowed };
  }

  /** The named executor, or the first. @throws OrchestratorError */
  #require(name: string | undefined) {
    const executor = name === undefined ? this.#catalog.attached[0] : this.#catalog.get(name);
    if (this.#closing !== undefined) throw closedError();
    if (executor !== undefined) return executor;
    const missing = name === undefined ? "no executor is attached" : `no executor named \`${name}\` is attached`;
    throw new OrchestratorError("unsupported", missing);
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #closeAll(): Promise<void> {
    this.#close.abort();
    await this.#attachments.close();
    await this.#settleCalls();
    await this.#auditor.flush();
  }

  /** Waits for open calls, with a time limit: a dependency may never settle. */
  async #settleCalls(): Promise<void> {
    await waitAtMost(
      this.#clock,
      this.#config.timings.shutdownMs,
      Promise.allSettled([...this.#inFlight, ...this.#displayed]),
    );
  }
}
