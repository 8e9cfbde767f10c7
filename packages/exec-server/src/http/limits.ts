/** Limits of the HTTP calls. */
export interface HttpLimits {
  /** Largest response body that is not streamed, bytes. Its base64 fits into one message of a channel. */
  maxBufferedBodyBytes: number;
  /** Concurrent exchanges of one connection, streamed bodies included. */
  maxExchanges: number;
}

/** Default limits of the HTTP calls. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  maxBufferedBodyBytes: 32 * 1024 * 1024,
  maxExchanges: 256,
};

/** Redirects followed for one request; the figure is Codex's. */
export const MAX_REDIRECTS = 10;

/** Headers of one response, bytes. */
export const MAX_HEADER_BYTES = 256 * 1024;

/** Milliseconds after which the next address of a host is tried concurrently. */
export const ADDRESS_ATTEMPT_MS = 1_000;
