/** Nothing was started. The message names what is missing or wrong; `code` is stable. */
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
 * `sandbox_unavailable`: this host has no sandbox. `sandbox_invalid`: this one cannot be enforced as specified, or does not
 * let the program start. `unreachable`: the host was not reached. They cross the wire as `data.code` of an error.
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

/** The host did not answer: it is not known whether anything was started. With any other failure of a start nothing was. */
export class UnknownStartError extends Error {
  override readonly name = "UnknownStartError";
}

/** A write that was not taken as a whole; the first `written` bytes were. */
export class WriteError extends Error {
  override readonly name = "WriteError";
  constructor(
    readonly code: "stdin_closed" | "exited" | "too_large" | "os_error",
    readonly written: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An operation that this process does not support, or no longer. */
export class ProcessError extends Error {
  override readonly name = "ProcessError";
  constructor(
    readonly code: "no_terminal" | "exited" | "bad_size" | "unsupported",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The `code` member of a Node system error, such as `ENOENT`. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
