import { messageOf } from "@codex/values";
import type { Channel, ChannelEnd, CloseOptions, Received } from "../channel.js";
import { ChannelError } from "../errors.js";
import { closedError } from "../queue/ending.js";
import { type EnvelopeOf, parseEnvelope, type TraceContext } from "./envelope.js";
import { DEFAULT_PEER_LIMITS, type PeerLimits, type PeerOptions, type UnexpectedMessage } from "./peer-options.js";
import { PendingRequests } from "./pending-requests.js";
import { isPromiseLike, RequestResponder } from "./request-responder.js";
import type { RpcError } from "./rpc-error.js";
import type { RpcId } from "./rpc-id.js";
import { WorkInProgress } from "./work-in-progress.js";

/** Options of `Peer.request`. */
export interface RequestOptions {
  /** Stops waiting for the response; the call rejects with the signal's reason. The peer is not notified. */
  signal?: AbortSignal;
  /** Trace context that is sent with the request. */
  trace?: TraceContext | undefined;
}

/**
 * One end of JSON-RPC over a channel; both ends may send requests. Owns the channel and closes it: in `close`, or after the
 * peer's end once the requests in progress have their responses.
 */
export class Peer implements AsyncDisposable {
  readonly #channel: Channel;
  readonly #options: PeerOptions;
  readonly #limits: PeerLimits;
  readonly #pending: PendingRequests;
  readonly #work: WorkInProgress;
  readonly #responder: RequestResponder;
  #endError: ChannelError | undefined;
  #closing: Promise<void> | undefined;
  /** Resolves when nothing more will be received, after rejecting pending requests. Never rejects. */
  readonly ended: Promise<ChannelEnd>;
  /** Resolves when the requests in progress have ended and the channel is closed. Never rejects. */
  readonly closed: Promise<ChannelEnd>;

  /** Starts to receive immediately; the first handler is called after the current turn. */
  constructor(channel: Channel, options: PeerOptions = {}) {
    this.#channel = channel;
    this.#options = options;
    this.#limits = { ...DEFAULT_PEER_LIMITS, ...options.limits };
    this.#pending = new PendingRequests(this.#limits.maxPendingRequests);
    this.#work = new WorkInProgress(this.#limits);
    this.#responder = new RequestResponder(channel, options, this.#work);
    void channel.closed.then(() => this.#work.lift());
    this.ended = this.#run();
    this.closed = this.ended.then((end) => this.#closeAfterWork(end));
  }

  /**
   * Sends a request and waits for its result.
   * Rejects with RpcError (the peer's error response), ChannelError (`closed`, `too_many_requests`, or why it was not sent), or
   * the reason of `signal`.
   */
  request(method: string, params?: unknown, options?: RequestOptions): Promise<unknown> {
    const { signal, trace } = options ?? {};
    if (this.#endError !== undefined) return Promise.reject(this.#endError);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const added = this.#pending.add();
    if (added instanceof ChannelError) return Promise.reject(added);
    const { id, response } = added;
    this.#channel
      .send(trace === undefined ? { id, method, params } : { id, method, params, trace })
      .catch((error: Error) => this.#pending.reject(id, error));
    if (signal !== undefined) this.#abandonOnAbort(id, response, signal);
    return response;
  }

  /** Resolves as `Channel.send` does. */
  notify(method: string, params?: unknown): Promise<void> {
    return this.#channel.send({ method, params });
  }

  /** Sends a message that is already encoded, such as a notification on a hot path. */
  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#channel.sendEncoded(json, onWritten);
  }

  /** Sends an error response; id -1 is for a message whose id could not be read. Never rejects. */
  sendError(id: RpcId, error: RpcError): Promise<void> {
    return this.#responder.sendError(id, error);
  }

  /** Aborts the requests in progress, rejects pending ones, and closes the channel. Idempotent; never rejects. */
  close(options: CloseOptions & { reason?: string } = {}): Promise<void> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<ChannelEnd> {
    while (await this.#receive()) {
      if (this.#work.isFull) await this.#work.room();
    }
    const end = await this.#channel.closed;
    this.#end(closedError(end));
    return end;
  }

  /** A separate function, so that a message is not referenced while waiting for the next one. */
  async #receive(): Promise<boolean> {
    const received = await this.#channel.receive();
    if (received !== undefined) this.#dispatch(received);
    return received !== undefined;
  }

  /** A peer that has ended its side may still read responses; a failed channel cannot carry them. */
  async #closeAfterWork(end: ChannelEnd): Promise<ChannelEnd> {
    if (end.kind === "peer_closed") await settlesWithin(this.#work.idle(), this.#limits.drainMs);
    await this.close();
    return end;
  }

  async #close({ reason, ...options }: CloseOptions & { reason?: string }): Promise<void> {
    const error = new ChannelError("closed", `JSON-RPC peer was closed${reason === undefined ? "" : `: ${reason}`}`);
    this.#end(error);
    this.#work.abortAll(error);
    await this.#channel.close(options);
  }

  #end(error: ChannelError): void {
    this.#endError ??= error;
    this.#pending.rejectAll(this.#endError);
  }

  #dispatch(received: Received): void {
    if (received.kind === "bytes") return; // such frames were never accepted
    if (received.kind === "malformed") {
      this.#onMalformed(received.problem);
      return;
    }
    const envelope = parseEnvelope(received.value, received.text);
    switch (envelope.kind) {
      case "request":
        this.#responder.handle(envelope, received.bytes ?? 0);
        break;
      case "notification":
        this.#handleNotification(envelope, received.bytes ?? 0);
        break;
      case "response":
        if (!this.#pending.resolve(envelope.id, envelope.result)) this.#onUnexpected(envelope);
        break;
      case "error":
        if (!this.#pending.reject(envelope.id, envelope.error)) this.#onUnexpected(envelope);
        break;
      case "malformed":
        this.#onMalformed(envelope.problem);
        break;
    }
  }

  #onMalformed(problem: string): void {
    const { onMalformed } = this.#options;
    if (onMalformed !== undefined) this.#callHook(() => onMalformed(problem));
    else void this.close({ reason: `malformed message: ${problem}` });
  }

  #onUnexpected(message: UnexpectedMessage): void {
    this.#callHook(() => this.#options.onUnexpected?.(message));
  }

  /** Calls a hook; when it throws, the peer is closed. */
  #callHook(hook: () => void): void {
    try {
      hook();
    } catch (error) {
      void this.close({ reason: messageOf(error) });
    }
  }

  #handleNotification(envelope: EnvelopeOf<"notification">, bytes: number): void {
    const handler = this.#options.notifications?.get(envelope.method);
    if (handler === undefined) {
      this.#onUnexpected(envelope);
      return;
    }
    const fail = (error: unknown) => {
      this.#onMalformed(`notification \`${envelope.method}\`: ${messageOf(error)}`);
    };
    try {
      const result = handler(envelope.params);
      if (isPromiseLike(result)) this.#awaitNotification(result, bytes, fail);
    } catch (error) {
      fail(error);
    }
  }

  #awaitNotification(result: PromiseLike<unknown>, bytes: number, fail: (error: unknown) => void): void {
    const work = { abort: () => {} };
    this.#work.add(work, bytes);
    result.then(
      () => this.#work.delete(work),
      (error: unknown) => {
        this.#work.delete(work);
        fail(error);
      },
    );
  }

  #abandonOnAbort(id: number, response: Promise<unknown>, signal: AbortSignal): void {
    const onAbort = () => this.#pending.abandon(id, signal.reason);
    const stop = () => signal.removeEventListener("abort", onAbort);
    signal.addEventListener("abort", onAbort);
    response.then(stop, stop);
  }
}

/** Resolves with the promise or after `ms` milliseconds, whichever is first. */
function settlesWithin(promise: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
