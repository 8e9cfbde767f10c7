import { ExecutorConnectionError, type ExecutorConnectionErrorCode } from "@codex/executor-client";
import { messageOf } from "@codex/values";

/** A failure that the caller of the library has to handle. Errors of a model are results instead. */
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
  /** An option is invalid, such as a limit below 1. */
  | "bad_option"
  | ExecutorConnectionErrorCode
  | "name_taken"
  /** A selection names an environment that does not exist. */
  | "unknown_environment"
  | "too_many_executors"
  | "too_many_environments"
  /** Thrown by an approver that cannot reach a person. */
  | "no_approver"
  /** Input for a shell, or access to a file, that the policy or the approver refuses. */
  | "refused"
  /** A file does not exist. */
  | "not_found"
  /** The host reported an error, for example because a path is a directory. */
  | "file_failed"
  /** The program was not started, or has ended. */
  | "not_running"
  /** The command could not be started, or the address could not be reached. */
  | "connect_failed"
  | "connect_timeout";

/** Rejects with an OrchestratorError for a failure of a connection; other errors stay as they are. */
export async function asOrchestratorErrors<T>(connecting: Promise<T>): Promise<T> {
  try {
    return await connecting;
  } catch (error) {
    throw error instanceof ExecutorConnectionError ? toOrchestratorError(error) : error;
  }
}

/** Converts an error of a connection to an error of this package. */
export const toOrchestratorError = ({ code, message }: ExecutorConnectionError) => new OrchestratorError(code, message);

/** Why the channel that was handed in could not be opened. */
export function connectFailure(name: string, cause: unknown): OrchestratorError {
  if (cause instanceof OrchestratorError) return cause;
  return new OrchestratorError("connect_failed", `executor \`${name}\`: ${messageOf(cause)}`, { cause });
}

/** The error of every method called after `close`. */
export const closedError = () => new OrchestratorError("closed", "the orchestrator is closed");
