/** A background server cannot be joined. */
export class BackgroundError extends Error {
  override readonly name = "BackgroundError";
  constructor(
    readonly code: BackgroundErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Why a background server cannot be joined, or cannot listen. */
export type BackgroundErrorCode =
  /** The directory of the socket belongs to another user, other users have access to it, or it cannot be created. */
  | "unsafe_directory"
  /** The path of the socket is longer than the system allows. */
  | "path_too_long"
  /** The server serves other processes, but not this one. */
  | "refused"
  /** The server did not start. */
  | "start_failed"
  /** The socket belongs to another program, or sent nothing in time. */
  | "bad_greeting";
