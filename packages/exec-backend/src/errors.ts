/** Nothing was started. The message names what was missing. */
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
 * `sandbox_unavailable`: this host has no sandbox. `sandbox_invalid`: this one cannot be enforced as it is meant, or leaves
 * the program no way to start. `unreachable`: the host was not reached. They cross the wire as `data.code` of an error.
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

export type StartErrorCode = (typeof START_ERROR_CODES)[number];

/** The host did not answer: whether anything was started is not known. Of any other failure of a start nothing was. */
export class UnknownStartError extends Error {
  override readonly name = "UnknownStartError";
}

/** A write that was not taken whole. `written` bytes were. */
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

/** An operation that this process cannot do. */
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
