import { messageOf } from "@codex/values";
import type { Channel } from "../channel.js";
import { stringify } from "../codec/encode.js";
import type { EnvelopeOf } from "./envelope.js";
import { EncodedResponse, ErrorResponse, type PeerOptions } from "./peer-options.js";
import { RequestContext } from "./request-context.js";
import { RPC_INTERNAL_ERROR, RPC_METHOD_NOT_FOUND, RpcError } from "./rpc-error.js";
import type { RpcId } from "./rpc-id.js";
import type { WorkInProgress } from "./work-in-progress.js";

/** Calls request handlers and sends their results or errors. Every request gets one response. */
export class RequestResponder {
  readonly #channel: Channel;
  readonly #options: PeerOptions;
  readonly #work: WorkInProgress;

  constructor(channel: Channel, options: PeerOptions, work: WorkInProgress) {
    this.#channel = channel;
    this.#options = options;
    this.#work = work;
  }

  handle({ id, method, params, trace }: EnvelopeOf<"request">, bytes: number): void {
    const context = new RequestContext(id, method, trace);
    const handler = this.#options.requests?.get(method) ?? this.#options.unknownRequest ?? refuseMethod;
    this.#work.add(context, bytes);
    let result: unknown;
    try {
      result = handler(params, context);
    } catch (error) {
      this.#respondWithError(context, error);
      return;
    }
    if (!isPromiseLike(result)) {
      this.#respond(context, result);
      return;
    }
    result.then(
      (value) => this.#respond(context, value),
      (error: unknown) => this.#respondWithError(context, error),
    );
  }

  /** Never rejects: on a closed channel the response is lost. */
  sendError(id: RpcId, { code, message, data }: ErrorResponse & { data?: unknown }): Promise<void> {
    return this.#sendErrorBody(id, { code, message, data }).catch(() =>
      // An error whose data has no JSON form must still be sent.
      this.#sendErrorBody(id, { code, message }).catch(() => {}),
    );
  }

  #respond(context: RequestContext, result: unknown): void {
    if (result instanceof ErrorResponse) {
      void this.sendError(context.id, result).then(() => this.#work.delete(context));
      return;
    }
    this.#sendResult(context.id, result).then(
      () => this.#work.delete(context),
      // Too large, too deep or not JSON: only this response fails. On a closed channel the error is lost as well.
      (error: unknown) => this.#respondWithError(context, error),
    );
  }

  #respondWithError(context: RequestContext, error: unknown): void {
    void this.sendError(context.id, this.#toRpcError(error, context)).then(() => this.#work.delete(context));
  }

  #toRpcError(error: unknown, context: RequestContext): RpcError {
    if (error instanceof RpcError) return error;
    try {
      const chosen = this.#options.errorOf?.(error, context);
      if (chosen !== undefined) return chosen;
    } catch {
      // The original error is more useful than the error of the hook.
    }
    return new RpcError(RPC_INTERNAL_ERROR, messageOf(error), { cause: error });
  }

  #sendResult(id: RpcId, result: unknown): Promise<void> {
    if (typeof id !== "bigint" && !(result instanceof EncodedResponse)) {
      return this.#channel.send({ id, result: result ?? null });
    }
    return this.#sendEncodedResult(id, result);
  }

  async #sendEncodedResult(id: RpcId, result: unknown): Promise<void> {
    if (result instanceof EncodedResponse) await this.#channel.sendEncoded(result.encode(id));
    else await this.#channel.sendEncoded(Buffer.from(`{"id":${id},"result":${stringify(result ?? null)}}`));
  }

  #sendErrorBody(id: RpcId, error: { code: number; message: string; data?: unknown }): Promise<void> {
    if (typeof id !== "bigint") return this.#channel.send({ error, id });
    return this.#sendLongIdError(id, error);
  }

  async #sendLongIdError(id: bigint, error: unknown): Promise<void> {
    await this.#channel.sendEncoded(Buffer.from(`{"error":${stringify(error)},"id":${id}}`));
  }
}

const refuseMethod = (_params: unknown, { method }: RequestContext): never => {
  throw new RpcError(RPC_METHOD_NOT_FOUND, `unknown method \`${method}\``);
};

export const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
