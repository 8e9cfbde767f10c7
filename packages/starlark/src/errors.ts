import { getLocation, type Source, type SourceLocation } from "./source.js";

/** A rule file that does not load. The message begins with `file:line:column` and ends with what to do. */
export class RuleFileError extends Error {
  readonly code = "rule_file_invalid";

  constructor(
    readonly location: SourceLocation,
    readonly problem: string,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    super(`${location.file}:${location.line}:${location.column}: ${problem}. ${advice}`, options);
    this.name = "RuleFileError";
  }
}

/** A problem found where no position is known yet; whoever runs the file adds the position. */
export class Fault extends Error {
  constructor(
    readonly problem: string,
    readonly advice: string = "Correct this value.",
  ) {
    super(problem);
    this.name = "Fault";
  }
}

export function createErrorAt(source: Source, offset: number, problem: string, advice: string): RuleFileError {
  return new RuleFileError(getLocation(source, offset), problem, advice);
}
