/** A local failure of a channel. It is never sent to the peer; errors that a peer sent are `RpcError`. */
export class ChannelError extends Error {
  override readonly name = "ChannelError";
  constructor(
    readonly code: ChannelErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Why a channel failed, or refused one value; `ChannelError.code`. */
export type ChannelErrorCode =
  /** The channel has ended, by `close` or by the peer. */
  | "closed"
  /** The connection broke without an orderly end. */
  | "connection_lost"
  | "too_large"
  | "too_deep"
  | "too_many_values"
  /** The value cannot be encoded as JSON. */
  | "unserializable"
  | "connect_failed"
  | "connect_timeout"
  /** The listener refused the connection with 401 or 403. */
  | "unauthorized"
  | "listen_failed"
  /** More requests would wait for a response than the JSON-RPC peer allows. */
  | "too_many_requests";

/** The `code` member of a Node system error, such as `EPIPE`. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
