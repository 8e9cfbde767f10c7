/** An operation in an environment failed. The message names the environment and has no secrets. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
  constructor(
    readonly code: EnvironmentErrorCode,
    /** Id of the environment; undefined if there is none. */
    readonly environment: string | undefined,
    /** The reason, without the environment name with which the message begins. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(environment === undefined ? reason : `environment \`${environment}\`: ${reason}`, options);
  }
}

/** The kind of failure, for programs. */
export type EnvironmentErrorCode =
  /** No environment has this id. */
  | "unknown_environment"
  /** There is no default environment: environments are disabled by configuration. */
  | "disabled"
  /** Nothing responded at its address. */
  | "unreachable"
  /** Its TLS certificate is not trusted here, or not valid for its name or at this time. */
  | "untrusted"
  /** It refused the credentials. */
  | "unauthorized"
  /** The peer is neither an exec-server nor an executor, or rejected the handshake. */
  | "handshake_failed"
  /** Connecting or the handshake exceeded its time limit. */
  | "timeout"
  /** Its program could not be started, or has exited. */
  | "program_failed"
  /** This environment does not support the operation. */
  | "unsupported"
  /** It was closed locally. */
  | "closed";
