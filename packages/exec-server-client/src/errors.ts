import { ChannelError } from "@codex/channel";

/** A local failure of an exec-server client. Errors that the server returns are `RpcError`. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  constructor(
    readonly code: ClientErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Why a call to an exec-server failed. */
export type ClientErrorCode =
  /** The client was closed, or its only connection has ended. */
  | "closed"
  /** The connection was lost before the response, and the request must not be repeated. */
  | "connection_lost"
  /** The session no longer exists on the server, or was not resumed in time. */
  | "session_lost"
  /** The server did not complete the handshake in time. */
  | "initialize_timeout"
  /** A response of the server violates the protocol. */
  | "invalid_response"
  /** The server could not read the whole body of an HTTP response. */
  | "http_failed"
  /** The server command could not be started. */
  | "spawn_failed"
  /** The process id is in use in this session. */
  | "duplicate_process";

/** Whether the connection has ended, so that it is unknown whether the request arrived. */
export const isConnectionEnd = (error: unknown): boolean => error instanceof ChannelError && error.code === "closed";
