import type { TraceContext } from "./envelope.js";
import type { RpcId } from "./rpc-id.js";

/** A request that is being handled. */
export class RequestContext {
  readonly id: RpcId;
  readonly method: string;
  /** Trace context as the peer sent it, or that of the span for handling the request. */
  trace: TraceContext | undefined;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  constructor(id: RpcId, method: string, trace: TraceContext | undefined) {
    this.id = id;
    this.method = method;
    this.trace = trace;
  }

  /** Aborts when the response can no longer be delivered. Created on first use, as most handlers need none. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#abortReason ??= reason;
    this.#controller?.abort(reason);
  }
}
