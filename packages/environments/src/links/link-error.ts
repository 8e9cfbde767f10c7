import type { EnvironmentErrorCode } from "../errors.js";

/** Why a link has no channel, or lost it. The environment it belongs to makes an EnvironmentError of it. */
export class LinkError extends Error {
  override readonly name = "LinkError";
  constructor(
    readonly code: EnvironmentErrorCode,
    message: string,
  ) {
    super(message);
  }
}
