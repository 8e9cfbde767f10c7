/** Bounds of the HTTP calls. */
export interface HttpLimits {
  /** Largest body of an answer that is not streamed, bytes. Its base64 stays within the messages of a channel. */
  maxBufferedBodyBytes: number;
  /** Exchanges of one connection under way at once, streamed bodies included. */
  maxExchanges: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  maxBufferedBodyBytes: 32 * 1024 * 1024,
  maxExchanges: 256,
};

/** Redirects followed for one request; the figure is Codex's. */
export const MAX_REDIRECTS = 10;

/** Headers of one answer, bytes. */
export const MAX_HEADER_BYTES = 256 * 1024;

/** Milliseconds an address of a host has to accept before the next one is tried beside it. */
export const ADDRESS_ATTEMPT_MS = 1_000;

/** The largest delay that a timer takes, milliseconds; a longer `timeoutMs` is as good as none. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
