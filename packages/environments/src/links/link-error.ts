import type { EnvironmentErrorCode } from "../errors.js";

/** Why a link has no channel, or lost it. Its environment converts it to an EnvironmentError. */
export class LinkError extends Error {
  override readonly name = "LinkError";
  /** @param isFinal trying again is of no use: what was lost is not resumed */
  constructor(
    readonly code: EnvironmentErrorCode,
    message: string,
    readonly isFinal = false,
  ) {
    super(message);
  }
}
