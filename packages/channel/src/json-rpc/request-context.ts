import type { TraceContext } from "./envelope.js";
import type { RpcId } from "./rpc-id.js";

/** A request that is being handled. */
export class RequestContext {
  readonly id: RpcId;
  readonly method: string;
  /** What its handling is part of: as the peer has sent it, or as who follows the handling has replaced it. */
  trace: TraceContext | undefined;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  constructor(id: RpcId, method: string, trace: TraceContext | undefined) {
    this.id = id;
    this.method = method;
    this.trace = trace;
  }

  /** Aborts when nobody waits for the answer any more. Made when first asked for: most handlers never do. */
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
