import { getLocation, type Source, type SourceLocation } from "./source.js";

/** A program that does not parse or run. The message begins with `file:line:column` and ends with what to do. */
export class StarlarkError extends Error {
  readonly code = "starlark_invalid";

  constructor(
    readonly location: SourceLocation,
    readonly problem: string,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    super(`${location.file}:${location.line}:${location.column}: ${problem}. ${advice}`, options);
    this.name = "StarlarkError";
  }
}

/**
 * A problem found where no position is known yet, such as in a built-in function; `runProgram` turns it into a `StarlarkError`
 * with the position of the call.
 */
export class Fault extends Error {
  constructor(
    readonly problem: string,
    readonly advice: string = "Correct this value.",
  ) {
    super(problem);
    this.name = "Fault";
  }
}

/** The error for a problem at `offset` (UTF-16 units) of `source`. `problem` and `advice` are sentences without and with a final stop. */
export function createErrorAt(source: Source, offset: number, problem: string, advice: string): StarlarkError {
  return new StarlarkError(getLocation(source, offset), problem, advice);
}
