/** There is no exec gate on this host, or none any more. */
export class GateError extends Error {
  override readonly name = "GateError";
  /** The system call, function or module that is missing. */
  readonly missing: string;

  constructor(missing: string, reason: string) {
    super(`there is no exec gate: \`${missing}\`: ${reason}`);
    this.missing = missing;
  }
}
