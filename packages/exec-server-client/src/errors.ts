import { ChannelError } from "@codex/channel";

/** A failure on this side of an exec-server client. What the server answered is an `RpcError` and stays one. */
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

/** Why a call to an exec-server has no answer. */
export type ClientErrorCode =
  /** The client was closed, or its only connection has ended. */
  | "closed"
  /** The connection broke before the answer came, and the request may not be sent twice. */
  | "connection_lost"
  /** The server does not know the session any more, or it could not be resumed in time. */
  | "session_lost"
  /** The server did not complete the handshake in time. */
  | "initialize_timeout"
  /** The server answered something else than the protocol says. */
  | "bad_answer"
  /** The server could not read the whole body of an HTTP answer. */
  | "http_failed"
  /** The command that should serve could not be started. */
  | "spawn_failed"
  /** The process id is in use in this session. */
  | "duplicate_process";

/** The connection has ended: whether the server got the request is not known. */
export const isConnectionEnd = (error: unknown): boolean => error instanceof ChannelError && error.code === "closed";
