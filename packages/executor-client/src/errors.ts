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
  /** What was asked for was given up. */
  | "closed"
  /** The executor lacks what was asked of it. */
  | "unsupported"
  /** The exec-server beside an executor could not be reached. */
  | "exec_server_failed"
  /** The executor refused `initialize`, speaks another version or answered what could not be read. */
  | "initialize_failed"
  | "initialize_timeout"
  /** What answered `initialize` is no executor: it speaks JSON-RPC, as an exec-server does. */
  | "wrong_protocol"
  | "list_tools_failed"
  | "list_tools_timeout";
