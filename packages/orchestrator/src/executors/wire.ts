import { setImmediate as nextTurn } from "node:timers/promises";
import type { Channel, ChannelEnd, Received } from "@codex/channel";
import { type ExecutorMessage, type OrchestratorMessage, parseExecutorMessage } from "@codex/executor-protocol";
import type { Clock } from "../clock.js";
import { messageOf } from "../errors.js";
import type { OrchestratorLimits } from "../limits.js";
import type { ToolOutputMessage } from "./live-output.js";
import type { ProblemLog } from "./problems.js";

/** What became of a request. Waiting for it always ends, and never rejects. */
export type Reply<M> =
  | { kind: "answer"; message: M }
  /** An `error` message for this request. */
  | { kind: "refused"; message: string }
  /** An answer came, but it could not be read. */
  | { kind: "unreadable"; problem: string }
  | { kind: "timeout"; ms: number }
  /** The channel ended first. */
  | { kind: "ended"; reason: string }
  /** Nothing was sent. */
  | { kind: "unsent"; reason: string; ended: boolean };

export type AnswerType = "list_tools_response" | "call_tool_response" | "shutdown_response" | "initialize_response";
type Answer<T extends AnswerType> = Extract<ExecutorMessage, { type: T }>;
type RequestMessage = Exclude<OrchestratorMessage, { type: "cancel_tool" }>;
/** A request without its id, which the wire chooses. */
export type RequestBody = RequestMessage extends infer R
  ? R extends RequestMessage
    ? Omit<R, "requestId">
    : never
  : never;

export interface RequestOptions<T extends AnswerType> {
  answer: T;
  deadlineMs: number;
  onOutput?: (message: ToolOutputMessage) => void | Promise<void>;
}

export interface SentRequest<M> {
  requestId: string;
  reply: Promise<Reply<M>>;
  /** Replaces the deadline by one that begins now. */
  expire(ms: number): void;
}

export interface WireOptions {
  channel: Channel;
  clock: Clock;
  limits: OrchestratorLimits;
  problems: ProblemLog;
  /** Makes the ids of this wire unlike those of any other. */
  idPrefix: string;
  onUnasked: (message: Extract<ExecutorMessage, { type: "tools_changed" | "session_exited" }>) => void;
}

interface Pending {
  answer: AnswerType;
  onOutput: ((message: ToolOutputMessage) => void | Promise<void>) | undefined;
  /** False when the message is not the answer that was asked for. */
  accept(message: ExecutorMessage): boolean;
  settle(reply: Exclude<Reply<never>, { kind: "answer" }>): void;
}

/** Requests and answers over one channel. Owns the channel: closes it in `close` and after its end. */
export class Wire {
  /** Resolves with the reason once the channel has ended and every request is settled. */
  readonly ended: Promise<string>;
  readonly #options: WireOptions;
  readonly #pending = new Map<string, Pending>();
  /** True for the answered ones, false for those given up: their late answer is no fault of the executor. */
  readonly #settled = new Map<string, boolean>();
  /** Resolves when `close` is called: nobody's listener can keep it waiting. */
  readonly #closing: Promise<void>;
  #beginClosing!: () => void;
  #endReason: string | undefined;
  #closeReason: string | undefined;
  #nextId = 1;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#closing = new Promise((resolve) => {
      this.#beginClosing = resolve;
    });
    options.problems.whenFull(() => void this.close("it sent too many messages that the protocol does not allow"));
    this.ended = this.#receiveAll();
  }

  get endReason(): string | undefined {
    return this.#endReason;
  }

  request<T extends AnswerType>(body: RequestBody, options: RequestOptions<T>): SentRequest<Answer<T>> {
    const requestId = `${this.#options.idPrefix}-${this.#nextId++}`;
    let stopClock = () => {};
    const expire = (ms: number) => {
      stopClock();
      if (!this.#pending.has(requestId)) return;
      stopClock = this.#options.clock.after(ms, () => this.#pending.get(requestId)?.settle({ kind: "timeout", ms }));
    };
    const reply = new Promise<Reply<Answer<T>>>((resolve) => {
      const finish = (reply: Reply<Answer<T>>) => {
        stopClock();
        this.#pending.delete(requestId);
        this.#rememberSettled(requestId, reply.kind !== "timeout");
        resolve(reply);
      };
      const isAnswer = (message: ExecutorMessage): message is Answer<T> => message.type === options.answer;
      this.#pending.set(requestId, {
        answer: options.answer,
        onOutput: options.onOutput,
        settle: finish,
        accept: (message) => {
          if (!isAnswer(message)) return false;
          finish({ kind: "answer", message });
          return true;
        },
      });
    });
    expire(options.deadlineMs);
    this.#send(requestId, { ...body, requestId });
    return { requestId, reply, expire };
  }

  /** Asks the executor to end the wait of a call. Not waited for: the call is answered or runs into its deadline. */
  cancel(requestId: string): void {
    this.#options.channel.send({ type: "cancel_tool", requestId }).catch(() => {});
  }

  async close(reason = "it was closed by this side"): Promise<void> {
    this.#closeReason ??= reason;
    this.#beginClosing();
    await this.#options.channel.close();
    await this.ended;
  }

  #send(requestId: string, message: OrchestratorMessage): void {
    if (this.#endReason !== undefined) {
      this.#pending.get(requestId)?.settle({ kind: "unsent", reason: this.#endReason, ended: true });
      return;
    }
    // A slow reader holds `send` back; the deadline of the request covers that.
    this.#options.channel.send(message).catch((error: unknown) => {
      const ended = isClosed(error);
      this.#pending.get(requestId)?.settle({ kind: "unsent", reason: messageOf(error), ended });
    });
  }

  async #receiveAll(): Promise<string> {
    const { channel } = this.#options;
    const failure = await this.#receiveUntilEnd().catch(messageOf);
    const reason = this.#closeReason ?? failure ?? describeEnd(await channel.closed);
    this.#endReason = reason;
    for (const pending of [...this.#pending.values()]) pending.settle({ kind: "ended", reason });
    await channel.close();
    return reason;
  }

  async #receiveUntilEnd(): Promise<undefined> {
    for (let count = 1; ; count++) {
      const received = await this.#options.channel.receive();
      if (received === undefined) return;
      const taken = this.#handle(received);
      // Whoever follows the output slowly holds the executor back: nothing more is received meanwhile.
      if (taken !== undefined) await Promise.race([taken, this.#closing]);
      // A peer that floods must not keep timers and other executors waiting.
      if (count % MESSAGES_PER_TURN === 0) await nextTurn();
    }
  }

  #handle(received: Received): void | Promise<void> {
    if (this.#closeReason !== undefined) return;
    const { problems } = this.#options;
    if (received.kind === "malformed") return problems.note("malformed", received.problem);
    const parsed = parseExecutorMessage(received.value);
    if (parsed.kind === "unknown") return problems.note("unknown_type", `unknown message type \`${parsed.type}\``);
    if (parsed.kind === "invalid") return this.#handleInvalid(received.value, parsed.requestId, parsed.problem);
    const { message } = parsed;
    switch (message.type) {
      case "tools_changed":
      case "session_exited":
        return this.#options.onUnasked(message);
      case "tool_output":
        return this.#handleOutput(message);
      case "error":
        return this.#handleError(message.requestId, message.message);
      default:
        return this.#handleAnswer(message.requestId, message);
    }
  }

  #handleInvalid(value: unknown, requestId: string | null, problem: string): void {
    const type = typeOf(value);
    this.#options.problems.note("invalid_message", `${type ?? "a message"}: ${problem}`);
    const pending = requestId === null ? undefined : this.#pending.get(requestId);
    if (pending !== undefined && (type === pending.answer || type === "error")) {
      pending.settle({ kind: "unreadable", problem });
    }
  }

  #handleOutput(message: ToolOutputMessage): void | Promise<void> {
    const pending = this.#pending.get(message.requestId);
    if (pending?.onOutput !== undefined) return pending.onOutput(message);
    if (pending === undefined && this.#settled.has(message.requestId)) return;
    this.#options.problems.note("unknown_request", `tool_output for request \`${message.requestId}\``);
  }

  #handleError(requestId: string | null, message: string): void {
    const pending = requestId === null ? this.#onlyInitialize() : this.#pending.get(requestId);
    if (pending !== undefined) return pending.settle({ kind: "refused", message });
    if (requestId === null) return this.#options.problems.note("unassigned_error", message);
    this.#noteStray(requestId, "error");
  }

  /** A peer that cannot read `initialize` may be unable to read its id as well. Nothing else is asked meanwhile. */
  #onlyInitialize(): Pending | undefined {
    const [only] = this.#pending.values();
    return only?.answer === "initialize_response" ? only : undefined;
  }

  #handleAnswer(requestId: string, message: ExecutorMessage): void {
    const pending = this.#pending.get(requestId);
    if (pending === undefined) return this.#noteStray(requestId, message.type);
    if (pending.accept(message)) return;
    const problem = `${message.type} where ${pending.answer} was asked`;
    this.#options.problems.note("wrong_answer", `request \`${requestId}\`: ${problem}`);
    pending.settle({ kind: "unreadable", problem });
  }

  #noteStray(requestId: string, type: string): void {
    const answered = this.#settled.get(requestId);
    if (answered === false) return;
    const kind = answered ? "duplicate_answer" : "unknown_request";
    this.#options.problems.note(kind, `${type} for request \`${requestId}\``);
  }

  #rememberSettled(requestId: string, answered: boolean): void {
    this.#settled.set(requestId, answered);
    if (this.#settled.size <= this.#options.limits.settledRequests) return;
    const [oldest] = this.#settled.keys();
    if (oldest !== undefined) this.#settled.delete(oldest);
  }
}

/** Messages handled before timers and other channels get their turn. */
const MESSAGES_PER_TURN = 64;

function describeEnd(end: ChannelEnd): string {
  switch (end.kind) {
    case "closed":
      return "its channel was closed by this side";
    case "peer_closed":
      return end.detail === undefined ? "it closed the channel" : `it closed the channel: ${end.detail}`;
    case "failed":
      return `its channel failed: ${end.error.message}`;
  }
}

const isClosed = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "closed" || error.code === "connection_lost");

const typeOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
    ? value.type
    : undefined;
