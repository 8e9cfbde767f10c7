import type { Channel } from "@codex/channel";
import {
  type Capability,
  EXECUTOR_PROTOCOL_VERSION,
  type ExecutorMessage,
  type HostInfo,
  type ProcessOutcome,
} from "@codex/executor-protocol";
import type { Clock } from "../clock.js";
import { OrchestratorError } from "../errors.js";
import type { OrchestratorLimits, OrchestratorTimings } from "../limits.js";
import type { ToolOutputMessage } from "./live-output.js";
import type { ProblemLog } from "./problems.js";
import type { SessionOwner } from "./sessions.js";
import { type LearnedTool, parseToolList } from "./tool-list.js";
import { type Reply, type SentRequest, Wire } from "./wire.js";

export interface InitializeOptions {
  /** Default `codex-orchestrator`. */
  clientName?: string;
  /** `sessionId` of an executor whose channel was lost: gets its sessions back. */
  resumeSessionId?: string;
}

export interface ExecutorOptions {
  name: string;
  channel: Channel;
  /** False: only the base messages are spoken. */
  initialize: InitializeOptions | false;
  /** Send `shutdown` before the channel is closed. */
  shutdownOnClose: boolean;
  clock: Clock;
  limits: OrchestratorLimits;
  timings: OrchestratorTimings;
  problems: ProblemLog;
  idPrefix: string;
  /** Whose sessions these are; the same object again when a lost executor is resumed. */
  owner: SessionOwner;
  onToolsChanged: () => void;
  onSessionExited: (processId: number, outcome: ProcessOutcome) => void;
}

export type CallAnswer = Extract<ExecutorMessage, { type: "call_tool_response" }>;
export type CallReply = Reply<CallAnswer>;

export interface CallRequest {
  toolName: string;
  arguments: unknown;
  deadlineMs: number;
  /** Beside the arguments, which may be a model's. */
  sessionScope?: "own" | "executor" | undefined;
  onOutput: (message: ToolOutputMessage) => void | Promise<void>;
}

/** One attached executor: what it said about itself, its tools, and calls to it. Owns its channel. */
export class Executor {
  readonly name: string;
  readonly problems: ProblemLog;
  readonly owner: SessionOwner;
  /** Undefined for an executor that knows only the base messages. */
  host: HostInfo | undefined;
  /** Of the executor, for a later resume. */
  sessionId: string | undefined;
  tools: ReadonlyMap<string, LearnedTool> = new Map();
  readonly #options: ExecutorOptions;
  readonly #wire: Wire;
  readonly #capabilities = new Set<string>();
  #listing: Promise<void> | undefined;
  #listAgain = false;

  private constructor(options: ExecutorOptions) {
    this.#options = options;
    this.name = options.name;
    this.problems = options.problems;
    this.owner = options.owner;
    this.#wire = new Wire({ ...options, onUnasked: (message) => this.#handleUnasked(message) });
  }

  /** Introduces itself and learns the tools. @throws OrchestratorError; the channel is closed then. */
  static async open(options: ExecutorOptions): Promise<Executor> {
    const executor = new Executor(options);
    try {
      if (options.initialize !== false) await executor.#initialize(options.initialize);
      await executor.#learnTools();
      return executor;
    } catch (error) {
      await executor.#wire.close();
      throw error;
    }
  }

  /** Resolves with the reason when the channel has ended; never rejects. */
  get ended(): Promise<string> {
    return this.#wire.ended;
  }

  get offlineReason(): string | undefined {
    return this.#wire.endReason;
  }

  /** It answered `initialize`, so the additive parts of the protocol may be used. */
  get initialized(): boolean {
    return this.host !== undefined;
  }

  can(capability: Capability): boolean {
    return this.#capabilities.has(capability);
  }

  call(request: CallRequest): SentRequest<CallAnswer> {
    const { toolName, deadlineMs, onOutput, sessionScope } = request;
    const scope = sessionScope === undefined ? {} : { sessionScope };
    const body = { type: "call_tool" as const, toolName, arguments: request.arguments, ...scope };
    return this.#wire.request(body, { answer: "call_tool_response", deadlineMs, onOutput });
  }

  cancel(requestId: string): void {
    this.#wire.cancel(requestId);
  }

  /** Says `shutdown` where that is wanted, then closes the channel. Never rejects. */
  async close(): Promise<void> {
    if (this.#options.shutdownOnClose && this.offlineReason === undefined) {
      const deadlineMs = this.#options.timings.shutdownMs;
      await this.#wire.request({ type: "shutdown" }, { answer: "shutdown_response", deadlineMs }).reply;
    }
    await this.#wire.close("it was detached");
  }

  async #initialize(options: InitializeOptions): Promise<void> {
    const { resumeSessionId } = options;
    const body = {
      type: "initialize" as const,
      clientName: options.clientName ?? "codex-orchestrator",
      protocolVersion: EXECUTOR_PROTOCOL_VERSION,
      ...(resumeSessionId === undefined ? {} : { resumeSessionId }),
    };
    const deadlineMs = this.#options.timings.initializeMs;
    const reply = await this.#wire.request(body, { answer: "initialize_response", deadlineMs }).reply;
    // One that knows only the base messages answers `error` for the unknown type: go on with those.
    if (reply.kind === "refused" && resumeSessionId === undefined) return;
    if (reply.kind !== "answer") throw this.#failure("initialize", reply);
    const { message } = reply;
    if (message.protocolVersion !== EXECUTOR_PROTOCOL_VERSION) {
      const versions = `speaks protocol version ${message.protocolVersion}, expected ${EXECUTOR_PROTOCOL_VERSION}`;
      throw new OrchestratorError("initialize_failed", `executor \`${this.name}\` ${versions}`);
    }
    this.host = message.host;
    this.sessionId = message.sessionId;
    for (const capability of message.capabilities) this.#capabilities.add(capability);
  }

  async #learnTools(): Promise<void> {
    const reply = await this.#listTools();
    if (reply.kind !== "answer") throw this.#failure("list_tools", reply);
    this.tools = parseToolList(reply.message.tools, this.#options.limits, this.problems);
  }

  #listTools() {
    const deadlineMs = this.#options.timings.listToolsMs;
    return this.#wire.request({ type: "list_tools" }, { answer: "list_tools_response", deadlineMs }).reply;
  }

  #handleUnasked(message: Extract<ExecutorMessage, { type: "tools_changed" | "session_exited" }>): void {
    if (message.type === "session_exited") {
      this.#options.onSessionExited(message.processId, message.outcome);
    } else if (this.#listing === undefined) {
      this.#listing = this.#relearnTools();
    } else {
      this.#listAgain = true;
    }
  }

  /** However often it is asked for, one listing is under way; a failed one keeps the tools that are known. */
  async #relearnTools(): Promise<void> {
    do {
      this.#listAgain = false;
      const reply = await this.#listTools();
      if (reply.kind === "answer") {
        this.tools = parseToolList(reply.message.tools, this.#options.limits, this.problems);
        this.#options.onToolsChanged();
      } else if (reply.kind !== "ended") {
        this.problems.note("invalid_tool", `tools were not listed again: ${describeReply(reply)}`);
      }
    } while (this.#listAgain && this.offlineReason === undefined);
    this.#listing = undefined;
  }

  #failure(request: "initialize" | "list_tools", reply: Exclude<Reply<never>, { kind: "answer" }>): OrchestratorError {
    const code = `${request}_${reply.kind === "timeout" ? "timeout" : "failed"}` as const;
    return new OrchestratorError(code, `executor \`${this.name}\`: \`${request}\` failed: ${describeReply(reply)}`);
  }
}

/** Why there is no answer, as the end of a sentence. */
export function describeReply(reply: Exclude<Reply<never>, { kind: "answer" }>): string {
  switch (reply.kind) {
    case "refused":
      return `the executor answered: ${reply.message}`;
    case "unreadable":
      return `the executor's answer could not be read: ${reply.problem}`;
    case "timeout":
      return `the executor did not answer within ${reply.ms} ms`;
    case "ended":
      return `the executor is offline: ${reply.reason}`;
    case "unsent":
      return `the request could not be sent: ${reply.reason}`;
  }
}
