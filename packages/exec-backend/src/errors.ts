/** The process was not started. The message names what is missing or wrong; `code` is stable. */
export class StartError extends Error {
  override readonly name = "StartError";
  constructor(
    readonly code: StartErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * `sandbox_unavailable`: this host has no sandbox. `sandbox_invalid`: the sandbox cannot be enforced as specified, or prevents
 * the program from starting. `unreachable`: no connection to the host. They are sent as `data.code` of an error.
 */
export const START_ERROR_CODES = [
  "empty_argv",
  "nul_byte",
  "cwd_not_absolute",
  "cwd_not_found",
  "cwd_not_directory",
  "program_not_found",
  "not_executable",
  "too_large",
  "no_terminal",
  "closed",
  "sandbox_unavailable",
  "sandbox_invalid",
  "unreachable",
  "os_error",
] as const;

/** One of `START_ERROR_CODES`. */
export type StartErrorCode = (typeof START_ERROR_CODES)[number];

/** The host did not respond: the process may have been started. With any other error of a start it was not. */
export class UnknownStartError extends Error {
  override readonly name = "UnknownStartError";
}

/** A write was not accepted in full; the first `written` bytes were. `unknown`: a far host did not respond, and the others may have been. */
export class WriteError extends Error {
  override readonly name = "WriteError";
  constructor(
    readonly code: "stdin_closed" | "exited" | "too_large" | "os_error" | "unknown",
    readonly written: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The process does not support this operation, or no longer does. */
export class ProcessError extends Error {
  override readonly name = "ProcessError";
  constructor(
    readonly code: "no_terminal" | "exited" | "bad_size" | "unsupported" | "unknown",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The `code` member of a Node system error, such as `ENOENT`. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
