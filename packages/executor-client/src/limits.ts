/** Limits of the memory that an executor can make the client use. */
export interface ExecutorConnectionLimits {
  /** Tools of one executor; further ones are omitted. */
  toolsPerExecutor: number;
  /** Bytes of a tool's name; a tool with a longer one is omitted. */
  toolNameBytes: number;
  /** Bytes of a tool's description; longer ones are truncated. */
  toolDescriptionBytes: number;
  /** Bytes of a tool's input schema as JSON; a tool with a larger one is omitted. */
  toolSchemaBytes: number;
  /**
   * Bytes of live output of one call queued for its listener; at the limit receiving from the executor pauses. An executor
   * that waits for acknowledgements stays below it.
   */
  queuedOutputBytes: number;
  /** The same for all calls to one executor. */
  queuedOutputBytesInAll: number;
  /** Settled requests remembered per executor, to distinguish a late response from an unknown one. */
  settledRequests: number;
  /** Protocol problems kept per executor; older ones are only counted. */
  problemsKept: number;
  /** Bytes of a problem's text. */
  problemBytes: number;
  /** Protocol violations after which the channel of an executor is closed. */
  problemsUntilClosed: number;
}

/** Default limits of an orchestrator. */
export const DEFAULT_EXECUTOR_CONNECTION_LIMITS: ExecutorConnectionLimits = {
  toolsPerExecutor: 256,
  toolNameBytes: 128,
  toolDescriptionBytes: 16 * 1024,
  toolSchemaBytes: 64 * 1024,
  queuedOutputBytes: 8 * 1024 * 1024,
  queuedOutputBytesInAll: 64 * 1024 * 1024,
  settledRequests: 1024,
  problemsKept: 100,
  problemBytes: 500,
  problemsUntilClosed: 1000,
};

/** Time limits of a connection, milliseconds. */
export interface ExecutorConnectionTimings {
  /** For the response to `initialize`. */
  initializeMs: number;
  /** For the response to `list_tools`. */
  listToolsMs: number;
  /** For the response to `shutdown`. */
  shutdownMs: number;
  /** For reconnecting to an executor that does not declare how long it keeps the state of a lost connection. */
  reconnectMs: number;
  /** The delay before reconnect attempt n is drawn from 0 to `reconnectBaseMs` · 2ⁿ, at most `reconnectMaxMs`. */
  reconnectBaseMs: number;
  reconnectMaxMs: number;
  /** Silence after which an executor with open calls, or that keeps sessions for a while, is pinged, and the time limit for its pong. */
  livenessMs: number;
}

/** Default time limits of an orchestrator, milliseconds. */
export const DEFAULT_EXECUTOR_CONNECTION_TIMINGS: ExecutorConnectionTimings = {
  initializeMs: 10_000,
  listToolsMs: 10_000,
  shutdownMs: 5_000,
  reconnectMs: 30_000,
  reconnectBaseMs: 100,
  reconnectMaxMs: 5_000,
  livenessMs: 10_000,
};

/** Largest piece of live output that is joined to a queued one, and largest joined piece, bytes. */
export const SMALL_OUTPUT_BYTES = 2048;
export const JOINED_OUTPUT_BYTES = 64 * 1024;
/** Approximate memory overhead of a queued piece of live output, bytes. */
export const QUEUED_PIECE_BYTES = 256;

/** Live output that is kept for a loop that has not begun, while its result is already awaited, bytes. */
export const UNREAD_OUTPUT_BYTES = 1024 * 1024;
/**
 * Milliseconds that the first call of a command waits: a short program ends within it, and needs no second call. Nothing
 * can be typed before its result, which names the session.
 */
export const FIRST_WINDOW_MS = 10;
