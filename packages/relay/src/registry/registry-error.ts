/** A registry request that failed. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  constructor(
    message: string,
    /** HTTP status; undefined if there was no response. */
    readonly status?: number,
    /** Value of `Retry-After`, milliseconds. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
