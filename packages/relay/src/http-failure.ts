/** A failed HTTP request or websocket upgrade. */
export class HttpFailure extends Error {
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
