/** How often and after which pauses a model is asked again. */
export interface RetryLimits {
  /** Requests repeated within one try of a stream, before any of it came. */
  readonly requestRetries: number;
  /** Streams repeated in one response. */
  readonly streamRetries: number;
  /** Pause before the first repetition, milliseconds; doubled for each further one, ± `jitter`. */
  readonly pauseMs: number;
  /** Part of a pause by which it may be longer or shorter. */
  readonly jitter: number;
  /** The same after a round of refused connections, milliseconds, at most `refusedPauseMaxMs`. */
  readonly refusedPauseMs: number;
  readonly refusedPauseMaxMs: number;
  /** Longest pause that is counted out here, milliseconds; what an endpoint asks for is not bounded by it. */
  readonly pauseMaxMs: number;
}

/** How often a model is asked again, unless its provider says otherwise. */
export const DEFAULT_RETRY_LIMITS: RetryLimits = {
  requestRetries: 4,
  streamRetries: 5,
  pauseMs: 200,
  jitter: 0.1,
  refusedPauseMs: 5_000,
  refusedPauseMaxMs: 60_000,
  pauseMaxMs: 60_000,
};
