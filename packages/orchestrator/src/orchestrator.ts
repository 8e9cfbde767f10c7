import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Channel } from "@codex/channel";
import { type Clock, systemClock, waitAtMost, waitUnlessAborted } from "@codex/clock";
import { ExecutorConnection, ProblemLog, type SessionOwner } from "@codex/executor-client";
import type { ProcessOutcome } from "@codex/executor-protocol";
import type { PolicyOptions } from "@codex/policy";
import type { Orchestrator, OrchestratorOptions, RunCommandOptions } from "./api.js";
import { Auditor } from "./audit/audit-trail.js";
import type { CallToolOptions, SharedContext } from "./calls/call-tool.js";
import { checkOptions } from "./calls/check-options.js";
import type { Judgement } from "./calls/judge-call.js";
import { createKeySeries } from "./calls/key-series.js";
import { KeyedCalls } from "./calls/keyed-calls.js";
import type { ToolCall } from "./calls/tool-call.js";
import { Catalog, type ModelTool } from "./catalog/catalog.js";
import { checkSelection, type EnvironmentSelection } from "./catalog/selection.js";
import { type Config, resolveConfig } from "./config.js";
import { type Conversation, type ConversationOptions, createConversation } from "./conversation.js";
import { connectEnvironment } from "./environments/connect-environment.js";
import { describeEnvironments } from "./environments/describe.js";
import type { AttachableEnvironment, EnvironmentDescription, EnvironmentOptions } from "./environments/environment.js";
import { EnvironmentTable } from "./environments/environment-table.js";
import { asOrchestratorErrors, connectFailure, OrchestratorError } from "./errors.js";
import {
  type AttachedExecutor,
  type AttachOptions,
  closeLater,
  describeExecutor,
} from "./executors/attached-executor.js";
import { SessionTable } from "./executors/sessions.js";
import { OutputStream } from "./output/output-stream.js";
import { teeOutput } from "./output/tee-output.js";
import { type RunCommandRequest, type RunningCommand, runCommand } from "./programs/run-command.js";
import { closedMeanwhile, fail, type StructuredOf, type ToolCallResult } from "./result.js";

type CoreOptions = Omit<OrchestratorOptions, "policy"> & Collaborators;

/** What tests replace: time, and what is random. */
export interface Collaborators {
  /** Default: the clock of this process. */
  clock?: Clock;
  /** Makes unique ids; default random UUIDs. */
  newId?: () => string;
  /** Spreads attempts to reconnect: a number in [0, 1), default `Math.random`. */
  jitter?: () => number;
}

/** Carries out the call of a tool for a model. */
type HandleCall = (name: string, args: unknown, options: CallToolOptions) => Promise<ToolCallResult>;

/** Carries out calls, and knows what is a policy. */
export interface CallHandler {
  handle: HandleCall;
  judge(name: string, args: unknown, options: CallToolOptions): Promise<Judgement>;
  /** @throws OrchestratorError `bad_option` */
  checkPolicy(policy: PolicyOptions): void;
}

/** What calls share with everything else. */
export type Shared = Pick<
  SharedContext,
  "config" | "catalog" | "environments" | "sessions" | "newId" | "newKey" | "closing" | "auditor"
> & { clock: Clock };

/** Everything except the handling of tool calls, which is handed in: `runCommand` and `listTools` do not need it. */
export class OrchestratorCore implements Orchestrator {
  readonly ready: Promise<void>;
  readonly #options: CoreOptions;
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #catalog = new Catalog();
  readonly #sessions: SessionTable;
  readonly #newKey: () => string;
  readonly #auditor: Auditor;
  readonly #handler: CallHandler;
  readonly #environments: EnvironmentTable;
  readonly #attaching = new Map<string, Promise<unknown>>();
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #keyedCalls: KeyedCalls;
  /** Aborts when it is closed. */
  readonly #close = new AbortController();
  #isReady = false;
  #closing: Promise<void> | undefined;

  constructor(options: CoreOptions, createHandler: (shared: Shared) => CallHandler) {
    this.#options = options;
    this.#config = resolveConfig(options.defaults);
    this.#clock = options.clock ?? systemClock;
    this.#newId = options.newId ?? randomUUID;
    this.#sessions = new SessionTable(this.#config.limits.rememberedSessions);
    this.#keyedCalls = new KeyedCalls(this.#config.limits);
    this.#newKey = createKeySeries(this.#newId());
    this.#auditor = new Auditor(options.audit, this.#newId);
    // Of each call that waits.
    setMaxListeners(0, this.#close.signal);
    this.#environments = new EnvironmentTable(this, this.#close.signal);
    this.#handler = createHandler({
      config: this.#config,
      clock: this.#clock,
      catalog: this.#catalog,
      environments: this.#environments,
      sessions: this.#sessions,
      newId: this.#newId,
      newKey: this.#newKey,
      closing: this.#close.signal,
      auditor: this.#auditor,
    });
    this.ready = this.#attachAll(options.executors ?? []);
    // Callers that do not await `ready` learn of the failure from their calls.
    void this.ready
      .catch(() => {})
      .then(() => {
        this.#isReady = true;
      });
  }

  get executors(): AttachedExecutor[] {
    return this.#catalog.attached.map(describeExecutor);
  }

  async attach(options: AttachOptions): Promise<AttachedExecutor> {
    const refusal = this.#refusal(options.name);
    if (refusal !== undefined) {
      if (options.channel !== undefined) closeLater(options.channel);
      throw refusal;
    }
    const { signal: given } = options;
    const signal = given === undefined ? this.#close.signal : AbortSignal.any([given, this.#close.signal]);
    const release = this.#catalog.reserve(options.name, options.toolsFor);
    const attached = this.#connected(options, signal)
      .then((channel) => this.#open(options, channel, signal))
      .catch((error: unknown) => {
        throw signal.aborted ? this.#givenUp(options.name) : error;
      });
    this.#attaching.set(options.name, attached);
    try {
      return describeExecutor(await attached);
    } finally {
      this.#attaching.delete(options.name);
      release();
    }
  }

  async detach(name: string): Promise<boolean> {
    const executor = this.#catalog.get(name);
    const wasAdded = this.#environments.delete(name);
    if (executor === undefined && !wasAdded) return false;
    this.#catalog.delete(name);
    await executor?.close();
    return true;
  }

  addEnvironment(environment: AttachableEnvironment, options: EnvironmentOptions = {}): void {
    const { id } = environment;
    const { policy, fallback } = options;
    const taken = this.#environments.has(id) || this.#catalog.get(id) !== undefined;
    const refusal = taken
      ? new OrchestratorError("name_taken", `there is an environment \`${id}\``)
      : this.#refusal(id);
    if (refusal !== undefined) throw refusal;
    if (fallback === id) throw new OrchestratorError("bad_option", `environment \`${id}\` is its own fallback`);
    if (policy !== undefined) this.#handler.checkPolicy(policy);
    this.#environments.add(environment, options);
    this.#catalog.expect(id);
  }

  listEnvironments(selection?: readonly EnvironmentSelection[]): EnvironmentDescription[] {
    return describeEnvironments(this.#catalog, this.#environments, this.#config, selection);
  }

  connectEnvironment = (id: string, signal?: AbortSignal) =>
    connectEnvironment(id, { catalog: this.#catalog, environments: this.#environments }, signal);

  createConversation(options: ConversationOptions = {}): Conversation {
    return createConversation(this, options, (selection) => checkSelection(selection, this.#catalog.names()));
  }

  listTools({ environments }: { environments?: readonly EnvironmentSelection[] } = {}): ModelTool[] {
    return this.#catalog.list(this.#config, environments);
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
    if (this.#close.signal.aborted) return { kind: "rejected", result: closedMeanwhile() };
    return this.#handler.judge(name, args, options);
  }

  async #startCall(name: string, args: unknown, options: CallToolOptions): Promise<ToolCallResult> {
    if (this.#closing !== undefined) return fail("closed", "the orchestrator is closed. Nothing was run.");
    const { inFlightCalls } = this.#config.limits;
    if (this.#inFlight.size >= inFlightCalls) {
      const reason = `${this.#inFlight.size} tool calls are under way (limit ${inFlightCalls} calls); wait for one to end`;
      return fail("too_many_calls", `${reason}. Nothing was run.`);
    }
    const call = this.#callTool(name, args, options);
    this.#inFlight.add(call);
    try {
      return await call;
    } finally {
      this.#inFlight.delete(call);
    }
  }

  startCall<Name extends string>(
    name: Name,
    args: unknown,
    options: CallToolOptions = {},
  ): ToolCall<StructuredOf<Name>> {
    const output = new OutputStream();
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
    if (this.#close.signal.aborted) return closedMeanwhile();
    return this.#handler.handle(name, args, options);
  }

  async #untilReady(signal: AbortSignal | undefined): Promise<void> {
    const closing = this.#close.signal;
    const over = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    const ready = this.ready.catch(() => {});
    await waitUnlessAborted(over, ready);
  }

  runCommand(request: RunCommandRequest, options: RunCommandOptions = {}): RunningCommand {
    const { executor: name, onOutput, signal } = options;
    const executor = name === undefined ? this.#catalog.attached[0] : this.#catalog.get(name);
    if (this.#closing !== undefined) throw closedError();
    if (executor === undefined) {
      const missing = name === undefined ? "no executor is attached" : `no executor named \`${name}\` is attached`;
      throw new OrchestratorError("unsupported", missing);
    }
    const { answerMarginMs } = this.#config.timings;
    return runCommand(executor, request, {
      onOutput,
      signal,
      answerMarginMs,
      newKey: this.#newKey,
      clock: this.#clock,
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #attachAll(executors: readonly AttachOptions[]): Promise<void> {
    const attached = await Promise.allSettled(executors.map((options) => this.attach(options)));
    const failure = attached.find((one) => one.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  }

  async #closeAll(): Promise<void> {
    this.#close.abort();
    const attaching = Promise.allSettled(this.#attaching.values());
    await Promise.all(this.#catalog.all.map((executor) => this.detach(executor.name)));
    await attaching;
    await this.#settleCalls();
    await this.#auditor.flush();
  }

  /** Waits for open calls, but not forever: a collaborator may never settle. */
  async #settleCalls(): Promise<void> {
    await waitAtMost(this.#clock, this.#config.timings.shutdownMs, Promise.allSettled(this.#inFlight));
  }

  /** Why this name cannot be attached now. */
  #refusal(name: string): OrchestratorError | undefined {
    if (this.#closing !== undefined) return closedError();
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) {
      const expected = "1 to 64 letters, digits and _ . -";
      return new OrchestratorError("bad_option", `executor name ${JSON.stringify(name)}; expected ${expected}`);
    }
    const known = this.#catalog.get(name);
    if (this.#attaching.has(name) || (known !== undefined && known.offlineReason === undefined)) {
      return new OrchestratorError("name_taken", `an executor named \`${name}\` is attached`);
    }
    const { executors } = this.#config.limits;
    const added = this.#environments.count((id) => this.#catalog.get(id) === undefined && !this.#attaching.has(id));
    const count = this.#catalog.all.length + this.#attaching.size + added;
    if (known !== undefined || this.#environments.has(name) || count < executors) return undefined;
    return new OrchestratorError(
      "too_many_executors",
      `${count} executors are attached (limit ${executors} executors)`,
    );
  }

  /** Waits for the channel; one that comes too late is closed. */
  async #connected({ name, channel: given, reconnect }: AttachOptions, signal: AbortSignal): Promise<Channel> {
    const { connectMs } = this.#config.timings;
    const attempt = new AbortController();
    const channel = given ?? reconnect?.(AbortSignal.any([attempt.signal, signal]));
    if (channel === undefined) {
      throw new OrchestratorError("bad_option", `executor \`${name}\` has neither \`channel\` nor \`reconnect\``);
    }
    const inTime = waitAtMost(this.#clock, connectMs, Promise.resolve(channel));
    const connected = await waitUnlessAborted(signal, inTime).catch((cause: unknown) => connectFailure(name, cause));
    if (connected !== undefined && !(connected instanceof OrchestratorError) && !signal.aborted) return connected;
    closeLater(channel);
    attempt.abort();
    throw (
      connected ??
      new OrchestratorError("connect_timeout", `executor \`${name}\`: no connection within ${connectMs} ms`)
    );
  }

  #givenUp(name: string): OrchestratorError {
    if (this.#closing !== undefined) return closedError();
    return new OrchestratorError("closed", `attaching executor \`${name}\` was given up`);
  }

  async #open(options: AttachOptions, channel: Channel, signal: AbortSignal): Promise<ExecutorConnection> {
    const { name, initialize = {} } = options;
    const { limits, timings } = this.#config;
    const { onProblem, onToolsChanged, onOffline, onOnline, jitter = Math.random } = this.#options;
    const resumed = initialize !== false && initialize.resumeSessionId !== undefined;
    const owner: SessionOwner = (resumed ? this.#catalog.get(name)?.owner : undefined) ?? { name };
    const problems = new ProblemLog(name, limits, onProblem);
    const { reconnect: connect } = options;
    const executor = await asOrchestratorErrors(
      ExecutorConnection.open({
        name,
        channel,
        initialize,
        shutdownOnClose: options.shutdownOnClose ?? true,
        clock: this.#clock,
        limits,
        timings,
        problems,
        idPrefix: this.#newId(),
        owner,
        signal,
        reconnect: connect === undefined ? undefined : { connect, random: jitter },
        onToolsChanged: () => problems.guard("onToolsChanged", () => onToolsChanged?.(name)),
        onSessionExited: (owner, processId, outcome) => this.#endSession({ owner, problems }, processId, outcome),
        onInterrupted: (reason) => problems.guard("onOffline", () => onOffline?.(name, reason, true)),
        onRestored: (lost) => {
          if (lost !== undefined) this.#sessions.lose(lost.owner, lost.reason);
          const back =
            lost === undefined ? { resumed: true as const } : { resumed: false as const, reason: lost.reason };
          problems.guard("onOnline", () => onOnline?.(name, back));
        },
      }),
    );
    this.#catalog.set(executor);
    this.#sessions.restore(owner);
    void executor.ended.then((reason) => {
      this.#sessions.lose(executor.owner, reason);
      problems.guard("onOffline", () => onOffline?.(name, reason, false));
    });
    if (this.#closing === undefined) return executor;
    await this.detach(name);
    throw closedError();
  }

  /** One that was never seen here has no id for the model, and needs none. */
  #endSession(from: Pick<ExecutorConnection, "owner" | "problems">, processId: number, outcome: ProcessOutcome): void {
    const session = this.#sessions.find(from.owner, processId);
    // After a resume an executor repeats what may not have been received.
    if (session === undefined || session.isExitReported) return;
    session.isExitReported = true;
    session.state = { kind: "ended", outcome };
    const exited = { executor: from.owner.name, sessionId: session.id, outcome };
    from.problems.guard("onSessionExited", () => this.#options.onSessionExited?.(exited));
  }
}

const closedError = () => new OrchestratorError("closed", "the orchestrator is closed");
