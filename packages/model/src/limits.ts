/** Number of and delays between retries. */
export interface RetryLimits {
  /** Retries of a request before its stream starts. */
  readonly requestRetries: number;
  /** Retries of a broken stream, per response. */
  readonly streamRetries: number;
  /** Delay before the first retry, milliseconds; doubles with each further retry, ± `jitter`. */
  readonly pauseMs: number;
  /** Maximum deviation as a fraction of the delay. */
  readonly jitter: number;
  /** Initial delay after refused connections, milliseconds; doubles up to `refusedPauseMaxMs`. */
  readonly refusedPauseMs: number;
  readonly refusedPauseMaxMs: number;
  /** Maximum computed delay, milliseconds; a delay requested by the endpoint may be longer. */
  readonly pauseMaxMs: number;
}

/** Retry limits unless the provider configures others. */
export const DEFAULT_RETRY_LIMITS: RetryLimits = {
  requestRetries: 4,
  streamRetries: 5,
  pauseMs: 200,
  jitter: 0.1,
  refusedPauseMs: 5_000,
  refusedPauseMaxMs: 60_000,
  pauseMaxMs: 60_000,
};

/** Limits on the responses of an endpoint. */
export interface ModelLimits {
  /** Characters of one stream event; a complete item is one event. */
  readonly eventChars: number;
  /** Bytes of one response, including deltas. */
  readonly responseBytes: number;
  /** Items of one response. */
  readonly responseItems: number;
  /** Bytes read of an error body. */
  readonly errorBodyBytes: number;
}

/** Default limits. */
export const DEFAULT_MODEL_LIMITS: ModelLimits = {
  eventChars: 64 * 1024 * 1024,
  responseBytes: 512 * 1024 * 1024,
  responseItems: 4096,
  errorBodyBytes: 16 * 1024,
};

/** Idle timeout of a response, including its headers, milliseconds; any byte resets it. */
export const DEFAULT_STREAM_IDLE_MS = 300_000;
/** Maximum output of a token command, bytes. */
export const TOKEN_BYTES = 64 * 1024;
/** Minimum retry delay that is reported to the user, milliseconds. */
export const REPORTED_PAUSE_MS = 2_000;
