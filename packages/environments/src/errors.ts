/** Why something could not be done in an environment. The message names the environment, and holds no secret. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
  constructor(
    readonly code: EnvironmentErrorCode,
    /** Id of the environment; undefined where there is none. */
    readonly environment: string | undefined,
    /** Without the name of the environment, which the message puts before it. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(environment === undefined ? reason : `environment \`${environment}\`: ${reason}`, options);
  }
}

/** What went wrong, for programs. */
export type EnvironmentErrorCode =
  /** No environment has this id. */
  | "unknown_environment"
  /** There is no default environment: configuration disables them. */
  | "disabled"
  /** Nobody answered at its address. */
  | "unreachable"
  /** It refused the credentials. */
  | "unauthorized"
  /** There was a connection, but what answered is neither an exec-server nor an executor, or refused. */
  | "handshake_failed"
  /** It was not connected, or did not answer the handshake, in time. */
  | "timeout"
  /** Its program could not be started, or ended. */
  | "program_failed"
  /** This environment cannot do that. */
  | "unsupported"
  /** It was closed by this side. */
  | "closed";
