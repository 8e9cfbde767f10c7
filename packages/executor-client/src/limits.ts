/** Bounds of the connection to an executor: whatever the executor can make grow. */
export interface ExecutorConnectionLimits {
  /** Tools learned from one executor; the rest of its list is left out. */
  toolsPerExecutor: number;
  /** Bytes of a tool's name; a tool with a longer one is left out. */
  toolNameBytes: number;
  /** Bytes of a tool's description; a longer one is cut. */
  toolDescriptionBytes: number;
  /** Bytes of a tool's input schema as JSON; a tool with a larger one is left out. */
  toolSchemaBytes: number;
  /**
   * Bytes of live output of one call that wait for its listener; at the bound nothing more is received from the
   * executor. One that waits for acknowledgements stays below it.
   */
  queuedOutputBytes: number;
  /** The same for all calls to one executor. */
  queuedOutputBytesInAll: number;
  /** Answered or given-up requests remembered per executor, to tell a late answer from an unknown one. */
  settledRequests: number;
  /** Protocol problems kept per executor; older ones are only counted. */
  problemsKept: number;
  /** Bytes of the text of one problem. */
  problemBytes: number;
  /** Protocol violations after which the channel of an executor is closed. */
  problemsUntilClosed: number;
}

/** The limits of an orchestrator where nothing else is configured. */
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

/** How long the steps of a connection may take, milliseconds. */
export interface ExecutorConnectionTimings {
  /** For the response to `initialize`. */
  initializeMs: number;
  /** For the response to `list_tools`. */
  listToolsMs: number;
  /** For the response to `shutdown`. */
  shutdownMs: number;
  /** For reconnecting to an executor that does not say how long it keeps the state of a lost connection. */
  reconnectMs: number;
  /** The wait before attempt n to reach it is drawn from 0 to `reconnectBaseMs` · 2ⁿ, at most `reconnectMaxMs`. */
  reconnectBaseMs: number;
  reconnectMaxMs: number;
  /** Silence after which an executor with open calls is pinged, and the time it has to answer. */
  livenessMs: number;
}

/** The times of an orchestrator where nothing else is configured, milliseconds. */
export const DEFAULT_EXECUTOR_CONNECTION_TIMINGS: ExecutorConnectionTimings = {
  initializeMs: 10_000,
  listToolsMs: 10_000,
  shutdownMs: 5_000,
  reconnectMs: 30_000,
  reconnectBaseMs: 100,
  reconnectMaxMs: 5_000,
  livenessMs: 10_000,
};

/** Largest piece of live output that is joined to one that waits, and largest result of that, bytes. */
export const SMALL_OUTPUT_BYTES = 2048;
export const JOINED_OUTPUT_BYTES = 64 * 1024;
/** What a waiting piece of live output takes besides its bytes, about. */
export const QUEUED_PIECE_BYTES = 256;
