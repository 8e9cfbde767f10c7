/** An error response: received from the peer, or thrown by a handler to be sent. Never a local failure. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  constructor(
    readonly code: number,
    message: string,
    options?: ErrorOptions & { data?: unknown },
  ) {
    super(message, options);
    if (options !== undefined && "data" in options) this.data = options.data;
  }
  /** Optional member of a JSON-RPC error; Codex does not send it. */
  readonly data?: unknown;
}

/** Codes of JSON-RPC 2.0, section 5.1. */
export const RPC_INVALID_REQUEST = -32600;
/** JSON-RPC 2.0: the method does not exist. */
export const RPC_METHOD_NOT_FOUND = -32601;
/** JSON-RPC 2.0: the params are invalid for the method. */
export const RPC_INVALID_PARAMS = -32602;
/** JSON-RPC 2.0: the handler failed. */
export const RPC_INTERNAL_ERROR = -32603;
