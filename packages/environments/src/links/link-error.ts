import type { EnvironmentErrorCode } from "../errors.js";

/** Why a link has no channel, or lost it. Its environment converts it to an EnvironmentError. */
export class LinkError extends Error {
  override readonly name = "LinkError";
  constructor(
    readonly code: EnvironmentErrorCode,
    message: string,
  ) {
    super(message);
  }
}
