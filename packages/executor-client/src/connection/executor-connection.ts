import { isDeepStrictEqual } from "node:util";
import type { Channel } from "@codex/channel";
import type { Clock } from "@codex/clock";
import {
  type Capability,
  EXECUTOR_PROTOCOL_VERSION,
  type ExecutorMessage,
  type HostInfo,
  type ProcessOutcome,
  type ResourceLimits,
} from "@codex/executor-protocol";
import type { TraceContext } from "@codex/telemetry";
import { ExecutorConnectionError } from "../errors.js";
import type { ExecutorConnectionLimits, ExecutorConnectionTimings } from "../limits.js";
import { describeReply } from "./describe-reply.js";
import { type Introduction, introduce } from "./introduce.js";
import type { OutputListener } from "./output-queue.js";
import type { ProblemLog } from "./problems.js";
import { type AnswerHost, type AnswerProgram, type HostReport, Questions } from "./questions.js";
import { retry } from "./retry.js";
import type { SessionOwner } from "./session-owner.js";
import { type LearnedTool, parseToolList } from "./tool-list.js";
import { Tunnels } from "./tunnels.js";
import { Wire } from "./wire.js";
import type { AckTerms, Loss, Recovery, Reply, SentRequest, UnsolicitedMessage } from "./wire-types.js";

/** What an orchestrator sends in `initialize` when it attaches an executor. */
export interface InitializeOptions {
  /** For the logs of the executor; default `codex-orchestrator`. */
  clientName?: string;
  /** `sessionId` of a lost executor whose sessions to resume. */
  resumeSessionId?: string;
}

/** Dependencies of a connection. */
export interface ConnectionOptions {
  name: string;
  channel: Channel;
  /** If false, only the base messages are used. */
  initialize: InitializeOptions | false;
  /** Send `shutdown` before the channel is closed. */
  shutdownOnClose: boolean;
  /** What each of its commands may use. */
  resourceLimits: ResourceLimits;
  clock: Clock;
  limits: ExecutorConnectionLimits;
  timings: ExecutorConnectionTimings;
  problems: ProblemLog;
  idPrefix: string;
  /** Owner of the sessions; the same object if a lost executor is resumed. */
  owner: SessionOwner;
  /** Opens another channel if the current one is lost. If absent, the connection ends with its channel. */
  reconnect: ReconnectOptions | undefined;
  /** Gives up opening it. */
  signal: AbortSignal;
  onToolsChanged: () => void;
  onSessionExited: (owner: SessionOwner, processId: number, outcome: ProcessOutcome) => void;
  /** Answers questions about programs that commands start. Absent: they are refused where a rule asks. */
  answerProgram?: AnswerProgram | undefined;
  /** Answers questions about hosts that commands want to reach. Absent: what no rule decides is denied. */
  answerHost?: AnswerHost | undefined;
  /** Called with what commands with `network.reports` do about hosts. */
  onHostReport?: ((report: HostReport) => void) | undefined;
  /** Called when the channel was lost and reconnecting starts. */
  onInterrupted: (reason: string) => void;
  /** Called when there is another channel. `lost`: owner of sessions that could not be resumed, and why. */
  onRestored: (lost: { owner: SessionOwner; reason: string } | undefined) => void;
}

/** Opens a channel to an executor. The signal aborts the attempt. */
export type Connector = (signal: AbortSignal) => Promise<Channel>;

/** How a lost channel is replaced. */
export interface ReconnectOptions {
  connect: Connector;
  /** Like `Math.random`. */
  random: () => number;
}

/** The unchanged response of an executor to a call. */
export type CallResponse = Extract<ExecutorMessage, { type: "call_tool_response" }>;
type ToolListResponse = Extract<ExecutorMessage, { type: "list_tools_response" }>;
/** That response, or why there is none. */
export type CallReply = Reply<CallResponse>;

/** A call to send. `deadlineMs`: time limit for the response, milliseconds. */
export interface CallRequest {
  toolName: string;
  arguments: unknown;
  deadlineMs: number;
  /** Separate from the arguments, which may come from a model. */
  sessionScope?: "own" | "executor" | undefined;
  /** The client of the call, for an executor that can separate clients. */
  client?: string | undefined;
  /** Trace context of the call. Only for an executor that answered `initialize`. */
  trace?: TraceContext | undefined;
  idempotencyKey?: string | undefined;
  /** It refers to a session, and so is not sent to another instance of the executor. */
  isInstanceBound?: boolean;
  /** Absent if the call has no output. */
  output?: OutputListener | undefined;
}

/** The connection to one attached executor: its self-description, its tools, and calls to it. Owns its channel. */
export class ExecutorConnection {
  /** What each of its commands may use. */
  readonly resourceLimits: ResourceLimits;
  readonly name: string;
  readonly problems: ProblemLog;
  /** Replaced after reconnecting without the former sessions. */
  owner: SessionOwner;
  /** Undefined for an executor that supports only the base messages. */
  host: HostInfo | undefined;
  /** Session id of the executor, for a later resume. */
  sessionId: string | undefined;
  tools: ReadonlyMap<string, LearnedTool> = new Map();
  /** `close` was called before it ended. */
  isDetached = false;
  readonly #options: ConnectionOptions;
  readonly #wire: Wire;
  readonly #tunnels: Tunnels;
  readonly #questions: Questions;
  readonly #capabilities = new Set<string>();
  #listing: Promise<void> | undefined;
  #listAgain = false;
  /** How long the executor keeps its state without a channel, milliseconds; undefined if it does not. */
  #graceMs: number | undefined;
  /** What is known of the exec gate of its host. */
  #gate: { owner: SessionOwner; holds: Promise<boolean> } | undefined;
  #introductions = 0;
  /** Number of the last resume attempt; the executor rejects attempts that arrive out of order. */
  #attempt = 0;
  #introduced = false;

  private constructor(options: ConnectionOptions) {
    this.#options = options;
    this.name = options.name;
    this.problems = options.problems;
    this.owner = options.owner;
    this.resourceLimits = options.resourceLimits;
    const { reconnect, timings } = options;
    this.#tunnels = new Tunnels({
      name: options.name,
      open: (body) =>
        this.#wire.request(body, { responseType: "open_exec_server_response", deadlineMs: timings.initializeMs }),
      post: (message) => this.#wire.post(message),
    });
    this.#questions = new Questions({
      answerProgram: options.answerProgram ?? (async () => "unasked"),
      answerHost: options.answerHost ?? (async () => "unasked"),
      post: (message) => this.#wire.post(message),
      holdDeadlines: () => this.#wire.holdDeadlines(),
    });
    this.#wire = new Wire({
      ...options,
      livenessMs: timings.livenessMs,
      onUnsolicited: (message) => this.#handleUnsolicited(message),
      // An executor ends what it keeps for a connection once that has been lost for too long, also without a call.
      isWatchedIdle: () => this.#tunnels.isOpen || this.#graceMs !== undefined,
      recover: reconnect === undefined ? undefined : (loss) => this.#recover(loss, reconnect),
    });
    void this.#wire.ended.then((reason) => {
      this.#tunnels.drop(reason);
      this.#questions.drop();
    });
  }

  /** Sends `initialize` and lists the tools. @throws ExecutorConnectionError; then the channel is closed */
  static async open(options: ConnectionOptions): Promise<ExecutorConnection> {
    const executor = new ExecutorConnection(options);
    const { signal } = options;
    const onAbort = () => void executor.#wire.close("attaching it was given up");
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await executor.#introduce(options.initialize);
      return executor;
    } catch (error) {
      await executor.#wire.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Resolves with the reason when the channel has ended; never rejects. */
  get ended(): Promise<string> {
    return this.#wire.ended;
  }

  get offlineReason(): string | undefined {
    return this.#wire.endReason;
  }

  /** Why the channel was lost, while reconnecting. */
  get lostReason(): string | undefined {
    return this.#wire.lostReason;
  }

  /** It answered `initialize`, so the additive parts of the protocol may be used. */
  get initialized(): boolean {
    return this.host !== undefined;
  }

  can(capability: Capability): boolean {
    return this.#capabilities.has(capability);
  }

  call({ deadlineMs, output, trace, isInstanceBound = false, ...call }: CallRequest): SentRequest<CallResponse> {
    const part = trace === undefined || !this.initialized ? {} : { trace };
    const body = { type: "call_tool" as const, ...call, ...part };
    return this.#wire.request(body, { responseType: "call_tool_response", deadlineMs, output, isInstanceBound });
  }

  /** @throws ExecutorConnectionError `unsupported` saying why there is none */
  async openExecServer(signal?: AbortSignal): Promise<Channel> {
    if (this.initialized) return this.#tunnels.open(signal);
    throw new ExecutorConnectionError(
      "unsupported",
      `executor \`${this.name}\` supports only the base messages: it offers tools only`,
    );
  }

  /** Whether the programs of commands can be judged on its host. Asked once for each instance of the executor. Never rejects. */
  async holdsPrograms(): Promise<boolean> {
    if (!this.can("exec_gate") || !this.can("program_questions")) return false;
    const { owner } = this;
    if (this.#gate?.owner !== owner) this.#gate = { owner, holds: this.#openGate() };
    return this.#gate.holds;
  }

  async #openGate(): Promise<boolean> {
    const deadlineMs = this.#options.timings.initializeMs;
    const options = { responseType: "open_exec_gate_response", deadlineMs } as const;
    const reply = await this.#wire.request({ type: "open_exec_gate" }, options).reply;
    if (reply.kind === "answer") return reply.message.holds;
    this.#gate = undefined; // the next command asks again
    return false;
  }

  cancel(requestId: string): void {
    this.#wire.cancel(requestId);
  }

  /** Sends `shutdown` if configured, then closes the channel. Never rejects. */
  async close(): Promise<void> {
    this.#shutDown();
    await this.#wire.close("it was detached");
  }

  /** Like `close`, but waits until the executor has ended its sessions and closed the channel, at most `shutdownMs`. */
  async closeGently(): Promise<void> {
    const isSent = this.#shutDown();
    await this.#wire.close("its environment was closed", isSent ? this.#options.timings.shutdownMs : 0);
  }

  #shutDown(): boolean {
    this.isDetached ||= this.offlineReason === undefined;
    if (!this.#options.shutdownOnClose || this.offlineReason !== undefined || this.lostReason !== undefined)
      return false;
    const deadlineMs = this.#options.timings.shutdownMs;
    // The channel delivers it before it closes; the response is not needed.
    void this.#wire.request({ type: "shutdown" }, { responseType: "shutdown_response", deadlineMs });
    return true;
  }

  /** Sends both requests together to save a round trip; an executor responds in order. */
  async #introduce(options: InitializeOptions | false): Promise<void> {
    const initialized = options === false ? undefined : this.#initialize(options);
    // A resumed connection must be initialized first.
    if (options !== false && options.resumeSessionId !== undefined) await initialized;
    const { initializeMs, listToolsMs } = this.#options.timings;
    const listed = this.#listTools(initializeMs + listToolsMs);
    await initialized;
    listed.expire(listToolsMs);
    this.#introduced = true;
    this.#learnTools(await listed.reply);
  }

  async #initialize(options: InitializeOptions): Promise<void> {
    const { resumeSessionId } = options;
    const resume = resumeSessionId === undefined ? {} : { resumeSessionId, unanswered: [], received: [] };
    const body = { type: "initialize" as const, ...this.#introduction(options, this.#options.channel), ...resume };
    const deadlineMs = this.#options.timings.initializeMs;
    const reply = await this.#wire.request(body, { responseType: "initialize_response", deadlineMs }).reply;
    // An executor with only the base messages responds with `error`: continue with those.
    if (reply.kind === "refused" && resumeSessionId === undefined) return;
    if (reply.kind !== "answer") throw this.#failure("initialize", reply);
    this.#wire.startAcknowledging(this.#adopt(reply.message));
  }

  #introduction({ clientName = "codex-orchestrator" }: InitializeOptions, { binary }: Channel) {
    // Binary frames may follow the response directly.
    binary?.accept();
    const binaryOutput = binary === undefined ? {} : { binaryOutput: true };
    const protocolVersion = EXECUTOR_PROTOCOL_VERSION;
    return {
      clientName,
      protocolVersion,
      acknowledges: true,
      flowControl: true,
      structuredResults: true,
      ...(this.#options.answerProgram === undefined ? {} : { answersPrograms: true }),
      ...(this.#options.answerHost === undefined ? {} : { answersHosts: true }),
      ...binaryOutput,
    };
  }

  /** Applies the self-description of an executor; undefined if it does not wait for acknowledgements. */
  #adopt(message: Introduction): AckTerms | undefined {
    if (message.protocolVersion !== EXECUTOR_PROTOCOL_VERSION) {
      const versions = `speaks protocol version ${message.protocolVersion}, expected ${EXECUTOR_PROTOCOL_VERSION}`;
      throw new ExecutorConnectionError("initialize_failed", `executor \`${this.name}\` ${versions}`);
    }
    this.host = message.host;
    this.sessionId = message.sessionId;
    this.#capabilities.clear();
    for (const capability of message.capabilities) this.#capabilities.add(capability);
    const resume = this.can("resume") ? message.resume : undefined;
    this.#attempt = resume?.lastAttempt ?? 0;
    this.#graceMs = resume?.graceMs;
    if (resume !== undefined) return { ackBytes: resume.ackBytes, lastSequence: resume.lastSequence ?? 0 };
    const { ackBytes } = message;
    return this.can("flow_control") && ackBytes !== undefined ? { ackBytes, lastSequence: undefined } : undefined;
  }

  /** Reconnects, and resumes the sessions that the executor has kept. */
  async #recover(loss: Loss, reconnect: ReconnectOptions): Promise<Recovery> {
    const { clock, timings } = this.#options;
    this.#tunnels.drop(loss.reason);
    if (!this.#introduced) return { kind: "ended", reason: loss.reason };
    this.#options.onInterrupted(loss.reason);
    const withinMs = this.#graceMs ?? timings.reconnectMs;
    const tried = await retry((signal) => this.#reach(loss, reconnect.connect, signal), {
      clock,
      withinMs,
      baseMs: timings.reconnectBaseMs,
      // Even a short time limit allows several attempts.
      maxMs: Math.min(timings.reconnectMaxMs, Math.ceil(withinMs / PAUSES_PER_OUTAGE)),
      attemptMs: Math.max(MIN_ATTEMPT_MS, Math.ceil(withinMs / ATTEMPTS_PER_OUTAGE)),
      random: reconnect.random,
      signal: loss.signal,
    });
    // It was closed in the meantime: what was reached is of no use.
    if (loss.signal.aborted && tried.kind === "done") await tried.value.channel.close();
    if (loss.signal.aborted) return { kind: "ended", reason: loss.reason };
    if (tried.kind === "failed") {
      const when = tried.isFinal ? "" : ` within ${withinMs} ms`;
      const reason = `${loss.reason}; it was not reached again${when}: ${tried.reason}`;
      return { kind: "ended", reason };
    }
    const lost = tried.value.kind === "renewed" ? { owner: this.owner, reason: tried.value.reason } : undefined;
    if (lost !== undefined) {
      this.owner = { name: this.name };
      this.#questions.drop();
    }
    this.#options.onRestored(lost);
    // Changes to the tools in the meantime were not announced.
    queueMicrotask(() => this.#handleUnsolicited({ type: "tools_changed" }));
    return tried.value;
  }

  async #reach(loss: Loss, connect: Connector, signal: AbortSignal): Promise<Exclude<Recovery, { kind: "ended" }>> {
    const channel = await connect(signal);
    const onAbort = () => void channel.close({ abrupt: true });
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      if (signal.aborted) throw new Error("time is over");
      return await this.#reintroduce(loss, channel);
    } catch (error) {
      onAbort();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async #reintroduce(loss: Loss, channel: Channel): Promise<Exclude<Recovery, { kind: "ended" }>> {
    const { initialize, clock, idPrefix, timings } = this.#options;
    if (initialize === false) {
      return { kind: "renewed", channel, reason: loss.reason, terms: undefined, isSameHost: true };
    }
    const ask = (more: object) => {
      this.#introductions += 1;
      const requestId = `${idPrefix}-again-${this.#introductions}`;
      const request = { type: "initialize" as const, requestId, ...this.#introduction(initialize, channel), ...more };
      return introduce(channel, request, { clock, deadlineMs: timings.initializeMs });
    };
    let reason = loss.reason;
    const before = this.host;
    if (this.#graceMs !== undefined) {
      this.#attempt += 1;
      const resumed = await ask({ resumeSessionId: this.sessionId, attempt: this.#attempt, ...loss.getState() });
      if (resumed.kind === "answer") {
        const terms = this.#adopt(resumed.message);
        const resend = new Set(resumed.message.resume?.resend);
        return { kind: "resumed", channel, resend, terms };
      }
      reason = `${loss.reason}; its sessions could not be resumed: the executor answered: ${resumed.message}`;
    }
    const renewed = await ask({});
    if (renewed.kind === "refused") throw new Error(`the executor answered: ${renewed.message}`);
    const terms = this.#adopt(renewed.message);
    return { kind: "renewed", channel, reason, terms, isSameHost: isDeepStrictEqual(before, this.host) };
  }

  #learnTools(reply: Reply<ToolListResponse>): void {
    if (reply.kind !== "answer") throw this.#failure("list_tools", reply);
    this.tools = parseToolList(reply.message.tools, this.#options.limits, this.problems);
  }

  #listTools(deadlineMs: number): SentRequest<ToolListResponse> {
    return this.#wire.request({ type: "list_tools" }, { responseType: "list_tools_response", deadlineMs });
  }

  #handleUnsolicited(message: UnsolicitedMessage): void {
    switch (message.type) {
      case "session_exited":
        return this.#options.onSessionExited(this.owner, message.processId, message.outcome);
      case "program_question":
      case "host_question":
        return this.#questions.ask(message);
      case "host_report":
        return this.#options.onHostReport?.(message);
      case "question_withdrawn":
        return this.#questions.withdraw(message.questionId);
      case "tools_changed":
        if (this.#listing === undefined) this.#listing = this.#relearnTools();
        else this.#listAgain = true;
        return;
      default: {
        const problem = this.#tunnels.handle(message);
        if (problem !== undefined) this.problems.note("invalid_tunnel", problem);
      }
    }
  }

  /** Concurrent calls share one listing; if it fails, the known tools are kept. */
  async #relearnTools(): Promise<void> {
    do {
      this.#listAgain = false;
      const { reply: listed } = this.#listTools(this.#options.timings.listToolsMs);
      const reply = await listed;
      if (reply.kind === "answer") {
        this.tools = parseToolList(reply.message.tools, this.#options.limits, this.problems);
        this.#options.onToolsChanged();
      } else if (reply.kind !== "ended") {
        this.problems.note("invalid_tool", `tools were not listed again: ${describeReply(reply)}`);
      }
    } while (this.#listAgain && this.offlineReason === undefined);
    this.#listing = undefined;
  }

  #failure(
    request: "initialize" | "list_tools",
    reply: Exclude<Reply<never>, { kind: "answer" }>,
  ): ExecutorConnectionError {
    const code = reply.kind === "foreign" ? "wrong_protocol" : CODES[request][reply.kind === "timeout" ? 1 : 0];
    return new ExecutorConnectionError(
      code,
      `executor \`${this.name}\`: \`${request}\` failed: ${describeReply(reply)}`,
    );
  }
}

/** Error codes by request: for a failure, and for a timeout. */
const CODES = {
  initialize: ["initialize_failed", "initialize_timeout"],
  list_tools: ["list_tools_failed", "list_tools_timeout"],
} as const;

/** Longest delay between two reconnect attempts, as a fraction of the total time. */
const PAUSES_PER_OUTAGE = 20;
/** Longest attempt, as a fraction of the total time; and its minimum, milliseconds. */
const ATTEMPTS_PER_OUTAGE = 4;
const MIN_ATTEMPT_MS = 500;
