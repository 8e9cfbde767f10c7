/** Why a registry gave no answer that could be used. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  constructor(
    message: string,
    /** HTTP status of a refusal; undefined where there was none. */
    readonly status?: number,
    /** Milliseconds after which it said to try again. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
