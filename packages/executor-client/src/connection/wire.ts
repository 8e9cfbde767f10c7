import { setImmediate as nextTurn } from "node:timers/promises";
import type { Channel, ChannelEnd, Received } from "@codex/channel";
import { waitAtMost, waitUnlessAborted } from "@codex/clock";
import {
  type ExecutorMessage,
  type OrchestratorMessage,
  parseExecutorMessage,
  type TunnelMessage,
} from "@codex/executor-protocol";
import { defined, evictOldest, messageOf } from "@codex/values";
import { watchPeer } from "./liveness.js";
import { OutputReceiver } from "./output-receiver.js";
import { type Pending, PendingRequest } from "./pending-request.js";
import type {
  AckTerms,
  RequestBody,
  RequestMessage,
  RequestOptions,
  ResponseMessage,
  ResponseType,
  SentRequest,
  WireOptions,
} from "./wire-types.js";

/**
 * Requests and responses over one channel, and over those that replace it: a request that did not arrive is sent again, and
 * gets one response. Owns the channel: closes it in `close` and after its end.
 */
export class Wire {
  /** Resolves with the reason once the channel has ended and every request is settled. */
  readonly ended: Promise<string>;
  readonly #options: WireOptions;
  readonly #pending = new Map<string, Pending>();
  /** Settled requests: true for answered ones, false for those that timed out, whose late response is legal. */
  readonly #settled = new Map<string, boolean>();
  /** Aborted by `close`: a slow listener cannot delay it. */
  readonly #closing = new AbortController();
  readonly #output: OutputReceiver;
  #channel: Channel;
  /** Why there is currently no channel. */
  #lostReason: string | undefined;
  /** Why this side closed the current channel. */
  #abandonReason: string | undefined;
  /** Set when another client resumed the connection: this one does not reconnect. */
  #takenOver: string | undefined;
  /** Sequence number of the last call; undefined while calls are not numbered. */
  #sequence: number | undefined;
  /** Reasons for which no deadline of a call passes. */
  #holds = 0;
  #endReason: string | undefined;
  #closeReason: string | undefined;
  #nextId = 1;
  /** Number of messages received. */
  #received = 0;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#output = new OutputReceiver({
      limits: options.limits,
      problems: options.problems,
      findQueue: (requestId) => this.#pending.get(requestId)?.output,
      isSettled: (requestId) => this.#settled.has(requestId),
      onAckDue: () => this.#acknowledge(),
    });
    this.#channel = options.channel;
    options.problems.whenFull(() => void this.close("it sent too many messages that the protocol does not allow"));
    this.ended = this.#receiveAll();
  }

  /** Why the channel was lost, while reconnecting. */
  get lostReason(): string | undefined {
    return this.#lostReason;
  }

  /** Starts to acknowledge output; calls are numbered if the executor retains unacknowledged output. */
  startAcknowledging(terms: AckTerms | undefined): void {
    if (terms === undefined) return;
    const { ackBytes, lastSequence } = terms;
    if (lastSequence !== undefined) this.#sequence = Math.max(this.#sequence ?? 0, lastSequence);
    this.#output.acks.acknowledgeEvery(ackBytes);
  }

  get endReason(): string | undefined {
    return this.#endReason;
  }

  request<T extends ResponseType>(body: RequestBody, options: RequestOptions<T>): SentRequest<ResponseMessage<T>> {
    const requestId = `${this.#options.idPrefix}-${this.#nextId++}`;
    const sequence = this.#nextSequence(body);
    const output = this.#output.open(options.output);
    const pending = new PendingRequest({
      message: { ...body, requestId, ...defined({ sequence }) },
      responseType: options.responseType,
      deadlineMs: options.deadlineMs,
      isInstanceBound: options.isInstanceBound ?? false,
      isHeld: this.#holds > 0 && body.type === "call_tool",
      clock: this.#options.clock,
      output,
      onSettled: ({ kind }) => {
        this.#pending.delete(requestId);
        this.#rememberSettled(requestId, kind !== "timeout");
      },
      onOver: () => {
        this.#output.forget(output);
      },
    });
    this.#pending.set(requestId, pending);
    this.#send(pending);
    return { requestId, reply: pending.reply, expire: (ms) => pending.expire(ms) };
  }

  /** Asks the executor to end a call early. Does not wait: the call gets a response or reaches its deadline. */
  cancel(requestId: string): void {
    const pending = this.#pending.get(requestId);
    if (pending?.sent === false) return;
    if (pending !== undefined) pending.cancelled = true;
    this.#channel.send({ type: "cancel_tool", requestId }).catch(() => {});
  }

  /** Sends a message that has no response over the current channel. @throws ChannelError */
  post(
    message: TunnelMessage | Extract<OrchestratorMessage, { type: "program_answer" | "host_answer" }>,
  ): Promise<void> {
    return this.#channel.send(message);
  }

  /** No deadline of a call passes until the returned function is called, once; then each starts anew. */
  holdDeadlines(): () => void {
    this.#holds += 1;
    if (this.#holds === 1) for (const call of this.#calls) call.hold();
    return () => {
      this.#holds -= 1;
      if (this.#holds === 0) for (const call of this.#calls) call.resume();
    };
  }

  get #calls(): Pending[] {
    return [...this.#pending.values()].filter(({ message }) => message.type === "call_tool");
  }

  /** @param waitMs milliseconds in which the peer may close the channel first */
  async close(reason = "it was closed by this side", waitMs = 0): Promise<void> {
    this.#closeReason ??= reason;
    this.#closing.abort();
    this.#output.drop();
    if (waitMs > 0) await waitAtMost(this.#options.clock, waitMs, this.#channel.closed);
    await this.#channel.close();
    await this.ended;
  }

  #nextSequence(body: RequestBody): number | undefined {
    if (body.type !== "call_tool" || this.#sequence === undefined) return undefined;
    this.#sequence += 1;
    return this.#sequence;
  }

  #send(pending: Pending): void {
    const { recover } = this.#options;
    if (this.#endReason !== undefined) {
      return pending.settle({ kind: "unsent", reason: this.#endReason, cause: "offline" });
    }
    // Sent by `#resume` or `#resendAll` once there is a channel.
    if (this.#lostReason !== undefined) return;
    pending.sent = true;
    // A slow reader delays `send`; the deadline of the request covers that.
    this.#channel.send(pending.message).catch((error: unknown) => {
      const ended = isClosed(error);
      if (ended && recover !== undefined) return;
      if (this.#pending.get(pending.message.requestId) !== pending) return;
      pending.settle({ kind: "unsent", reason: messageOf(error), cause: ended ? "offline" : "refused" });
    });
  }

  async #receiveAll(): Promise<string> {
    for (;;) {
      const stopWatching = this.#watchPeer();
      const failure = await this.#receiveUntilEnd().catch(messageOf);
      stopWatching();
      const reason = this.#closeReason ?? failure ?? this.#abandonReason ?? describeEnd(await this.#channel.closed);
      this.#abandonReason = undefined;
      const over = await this.#recover(reason);
      if (over !== undefined) return over;
    }
  }

  /** Detects a half-open channel, if it can be replaced. */
  #watchPeer(): () => void {
    const { clock, livenessMs: ms, recover } = this.#options;
    if (recover === undefined) return () => {};
    const channel = this.#channel;
    return watchPeer(channel, {
      clock,
      ms,
      getReceived: () => this.#received,
      // Other requests have short deadlines.
      isWaiting: () => this.#options.isWatchedIdle() || this.#calls.length > 0,
      onDead: () => {
        this.#abandonReason = `it did not respond for ${2 * ms} ms`;
        void channel.close({ abrupt: true });
      },
    });
  }

  /** Called when the channel has ended. Returns undefined once it is replaced, else the reason why it is not. */
  async #recover(reason: string): Promise<string | undefined> {
    const { recover } = this.#options;
    if (this.#takenOver !== undefined) return this.#end(this.#takenOver);
    if (recover === undefined || this.#closeReason !== undefined) return this.#end(reason);
    this.#lostReason = reason;
    void this.#channel.close();
    const { signal } = this.#closing;
    const recovery = await recover({ reason, getState: () => this.#getState(), signal });
    if (this.#closeReason !== undefined && recovery.kind !== "ended") await recovery.channel.close();
    if (this.#closeReason !== undefined) return this.#end(this.#closeReason);
    if (recovery.kind === "ended") return this.#end(recovery.reason);
    this.#channel = recovery.channel;
    this.#output.startChannel();
    this.#lostReason = undefined;
    if (recovery.kind === "renewed") this.#settleAll(recovery.reason, recovery.isSameHost);
    this.startAcknowledging(recovery.terms);
    if (recovery.kind === "resumed") this.#resume(recovery.resend);
    else this.#resendAll();
    return undefined;
  }

  #getState() {
    const unanswered = [...this.#pending.values()].flatMap(({ message }) => {
      if (message.type !== "call_tool") return [];
      const { requestId, sequence } = message;
      return [{ requestId, ...defined({ sequence }) }];
    });
    const givenUp = [...this.#settled].flatMap(([requestId, answered]) => (answered ? [] : [requestId]));
    return { unanswered, givenUp, received: this.#output.acks.positions };
  }

  /** Sends the requests that did not arrive, in their order. */
  #resume(resend: ReadonlySet<string>): void {
    this.#output.acks.forgetUnacknowledged();
    for (const pending of [...this.#pending.values()]) {
      const { requestId, type } = pending.message;
      if (!pending.sent || type !== "call_tool" || resend.has(requestId)) this.#send(pending);
      if (pending.cancelled) this.cancel(requestId);
    }
  }

  async #end(reason: string): Promise<string> {
    this.#endReason = reason;
    this.#lostReason = undefined;
    this.#settleAll(reason);
    await this.#channel.close();
    return reason;
  }

  /**
   * Settles the pending requests, which are lost: unsent ones had no effect, the effect of the others is unknown. `isSameHost`: set if
   * a new instance of the executor was reached, which can still get the unsent ones if it is on the same host.
   */
  #settleAll(reason: string, isSameHost?: boolean): void {
    this.#sequence = undefined;
    const unused = new Set([...this.#pending.values()].flatMap(({ sent, output }) => (sent ? [] : [output])));
    this.#output.startInstance(unused);
    for (const pending of [...this.#pending.values()]) {
      if (pending.sent) pending.settle({ kind: "ended", reason });
      else if (isSameHost === undefined || pending.isInstanceBound) {
        pending.settle({ kind: "unsent", reason, cause: "offline" });
      } else if (!isSameHost) {
        const changed = `${reason}; it was reached again, and its host is a different one`;
        pending.settle({ kind: "unsent", reason: changed, cause: "changed" });
      }
    }
  }

  /** Sends the remaining requests to a new instance of the executor, with new sequence numbers. */
  #resendAll(): void {
    for (const pending of [...this.#pending.values()]) {
      const { message } = pending;
      if (message.type === "call_tool") {
        const { sequence: _former, ...rest } = message;
        const sequence = this.#nextSequence(message);
        pending.message = { ...rest, ...defined({ sequence }) };
      }
      this.#send(pending);
    }
  }

  #acknowledge(): void {
    const ack = this.#output.acks.takeDue();
    if (ack !== undefined) this.#channel.send({ type: "ack", ...ack }).catch(() => {});
  }

  async #receiveUntilEnd(): Promise<undefined> {
    for (let count = 1; ; count++) {
      const received = await this.#channel.receive();
      if (received === undefined) return;
      this.#received += 1;
      const held = this.#handle(received);
      if (held !== undefined) await waitUnlessAborted(this.#closing.signal, held);
      // A peer that sends continuously must not block timers and other executors.
      if (count % MESSAGES_PER_TURN === 0) await nextTurn();
    }
  }

  #handle(received: Received): void | Promise<void> {
    if (this.#closeReason !== undefined) return;
    const { problems } = this.#options;
    if (received.kind === "bytes") return this.#output.handleBytes(received);
    if (received.kind === "malformed") return problems.note("malformed", received.problem);
    const parsed = parseExecutorMessage(received.value);
    if (parsed.kind === "unknown") return this.#handleUnknown(parsed.type);
    if (parsed.kind === "invalid") return this.#handleInvalid(received.value, parsed.requestId, parsed.problem);
    const { message } = parsed;
    switch (message.type) {
      case "tools_changed":
      case "session_exited":
      case "program_question":
      case "host_question":
      case "host_report":
      case "question_withdrawn":
      case "exec_server":
      case "exec_server_ack":
      case "exec_server_closed":
        return this.#options.onUnsolicited(message);
      case "tool_output":
        return this.#output.handleMessage(message);
      case "error":
        return this.#handleError(message);
      default:
        return this.#handleResponse(message.requestId, message);
    }
  }

  #handleUnknown(type: string): void {
    this.#options.problems.note("unknown_type", `unknown message type \`${type}\``);
    if (type === "initialize") {
      this.#firstInitialize()?.settle({ kind: "unreadable", problem: "it sends back what it is sent" });
    }
  }

  #handleInvalid(value: unknown, requestId: string | null, problem: string): void {
    const type = typeOf(value);
    if (type === undefined && isJsonRpc(value)) this.#firstInitialize()?.settle({ kind: "foreign" });
    this.#options.problems.note("invalid_message", `${type ?? "a message"}: ${problem}`);
    const pending = requestId === null ? undefined : this.#pending.get(requestId);
    if (pending !== undefined && (type === pending.responseType || type === "error")) {
      pending.settle({ kind: "unreadable", problem });
    }
  }

  #handleError({ requestId, message, code }: Extract<ExecutorMessage, { type: "error" }>): void {
    if (requestId === null && code === "taken_over") {
      this.#takenOver = message;
      return;
    }
    const pending = requestId === null ? this.#firstInitialize() : this.#pending.get(requestId);
    if (pending !== undefined) return pending.settle({ kind: "refused", message });
    if (requestId === null) return this.#options.problems.note("unassigned_error", message);
    this.#noteStray(requestId, "error");
  }

  /** A peer that cannot read `initialize` may not return its id either. It is always the first request. */
  #firstInitialize(): Pending | undefined {
    const [first] = this.#pending.values();
    return first?.responseType === "initialize_response" ? first : undefined;
  }

  #handleResponse(requestId: string, message: ExecutorMessage): void {
    const pending = this.#pending.get(requestId);
    if (message.type === "call_tool_response") {
      this.#output.acks.noteAnswer(requestId);
      this.#acknowledge();
    }
    if (pending === undefined) return this.#noteStray(requestId, message.type);
    if (message.type === "call_tool_response" && message.outcome.status === "success") {
      this.#output.endOutput(pending.output, namedSession(pending.message), message.outcome.structured);
    }
    if (pending.accept(message)) return;
    const problem = `${message.type} where ${pending.responseType} was expected`;
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
    evictOldest(this.#settled, this.#options.limits.settledRequests);
  }
}

/** Messages handled per turn of the event loop. */
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

/** The session that the arguments of a call name. */
function namedSession(message: RequestMessage): number | undefined {
  const args = message.type === "call_tool" ? message.arguments : undefined;
  const named = typeof args === "object" && args !== null && "processId" in args ? args.processId : undefined;
  return typeof named === "number" ? named : undefined;
}

const isClosed = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "closed" || error.code === "connection_lost");

/** Whether it is a JSON-RPC response, as an exec-server sends to a message that it cannot read. */
const isJsonRpc = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "id" in value && ("error" in value || "result" in value);

const typeOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
    ? value.type
    : undefined;
