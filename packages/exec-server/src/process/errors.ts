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

export type StartErrorCode =
  | "empty_argv"
  | "nul_byte"
  | "cwd_not_absolute"
  | "cwd_not_found"
  | "cwd_not_directory"
  | "program_not_found"
  | "not_executable"
  | "too_large"
  | "no_terminal"
  | "closed"
  /** This host has no sandbox. */
  | "sandbox_unavailable"
  /** This sandbox cannot be enforced as it is meant, or leaves the program no way to start. */
  | "sandbox_invalid"
  | "os_error";

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
