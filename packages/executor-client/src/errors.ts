/** A failure of the connection to an executor; the message names the executor. */
export class ExecutorConnectionError extends Error {
  override readonly name = "ExecutorConnectionError";
  constructor(
    readonly code: ExecutorConnectionErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** What failed, for programs. */
export type ExecutorConnectionErrorCode =
  /** The request was cancelled. */
  | "closed"
  /** The executor does not support the request. */
  | "unsupported"
  /** The exec-server beside an executor could not be reached. */
  | "exec_server_failed"
  /** The executor refused `initialize`, speaks another version, or its response was unreadable. */
  | "initialize_failed"
  | "initialize_timeout"
  /** The peer is not an executor: it speaks JSON-RPC, as an exec-server does. */
  | "wrong_protocol"
  | "list_tools_failed"
  | "list_tools_timeout";
