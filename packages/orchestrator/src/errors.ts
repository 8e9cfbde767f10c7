/** A failure of this side that the caller of the library has to handle. What a model caused is a result instead. */
export class OrchestratorError extends Error {
  override readonly name = "OrchestratorError";
  constructor(
    readonly code: OrchestratorErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What failed, for programs; the message is for people and names the executor and the limit. */
export type OrchestratorErrorCode =
  /** An option has no meaning, such as a limit below 1. */
  | "bad_option"
  /** The orchestrator is closed, or attaching was aborted. */
  | "closed"
  /** The executor lacks what was asked of it. */
  | "unsupported"
  /** The exec-server beside an executor could not be reached. */
  | "exec_server_failed"
  | "name_taken"
  /** A selection names an environment that is not there. */
  | "unknown_environment"
  | "too_many_executors"
  /** The command could not be started or the address not be reached. */
  | "connect_failed"
  | "connect_timeout"
  /** The executor refused `initialize`, speaks another version or answered what could not be read. */
  | "initialize_failed"
  | "initialize_timeout"
  /** What answered `initialize` is no executor: it speaks JSON-RPC, as an exec-server does. */
  | "wrong_protocol"
  | "list_tools_failed"
  | "list_tools_timeout";
