/** Bounds of an orchestrator: whatever an executor, a model or a user can make grow. */
export interface OrchestratorLimits {
  /** Executors attached at once, the offline ones included. */
  executors: number;
  /** Tool calls under way at once, those that wait for an approval included. */
  inFlightCalls: number;
  /** Tools learned from one executor; the rest of its list is left out. */
  toolsPerExecutor: number;
  /** Bytes of a tool's name; a tool with a longer one is left out. */
  toolNameBytes: number;
  /** Bytes of a tool's description; a longer one is cut. */
  toolDescriptionBytes: number;
  /** Bytes of a tool's input schema as JSON; a tool with a larger one is left out. */
  toolSchemaBytes: number;
  /** Bytes of a call's arguments when the model sends them as JSON text. */
  argumentBytes: number;
  /** Bytes of text that one result may give to the model; the end is cut. */
  resultTextBytes: number;
  /** Decisions remembered for the session; the oldest is forgotten. */
  rememberedApprovals: number;
  /** Session ids remembered over all executors; ended ones are forgotten first. */
  rememberedSessions: number;
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

/** What applies where `defaults.limits` says nothing. */
export const DEFAULT_ORCHESTRATOR_LIMITS: OrchestratorLimits = {
  executors: 64,
  inFlightCalls: 256,
  toolsPerExecutor: 256,
  toolNameBytes: 128,
  toolDescriptionBytes: 16 * 1024,
  toolSchemaBytes: 64 * 1024,
  argumentBytes: 4 * 1024 * 1024,
  resultTextBytes: 1024 * 1024,
  rememberedApprovals: 1000,
  rememberedSessions: 1024,
  queuedOutputBytes: 8 * 1024 * 1024,
  queuedOutputBytesInAll: 64 * 1024 * 1024,
  settledRequests: 1024,
  problemsKept: 100,
  problemBytes: 500,
  problemsUntilClosed: 1000,
};

/** How long things may take, milliseconds. */
export interface OrchestratorTimings {
  /** Until a channel that is handed in as a promise must be there. */
  connectMs: number;
  /** For the response to `initialize`. */
  initializeMs: number;
  /** For the response to `list_tools`. */
  listToolsMs: number;
  /** For the answer to a unified-exec call, on top of its window. */
  answerMarginMs: number;
  /** For the answer of any other tool. */
  toolAnswerMs: number;
  /** For the answer to a call after it was cancelled. */
  cancelGraceMs: number;
  /** For a person's decision; 0 waits without end. */
  approvalMs: number;
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

/** What applies where `defaults.timings` says nothing, milliseconds. */
export const DEFAULT_ORCHESTRATOR_TIMINGS: OrchestratorTimings = {
  connectMs: 30_000,
  initializeMs: 10_000,
  listToolsMs: 10_000,
  answerMarginMs: 30_000,
  toolAnswerMs: 600_000,
  cancelGraceMs: 5_000,
  approvalMs: 0,
  shutdownMs: 5_000,
  reconnectMs: 30_000,
  reconnectBaseMs: 100,
  reconnectMaxMs: 5_000,
  livenessMs: 10_000,
};

/** Bounds of the windows that a model may ask for, and what it gets when it asks for none, milliseconds. */
export interface WindowBounds {
  execMinMs: number;
  execMaxMs: number;
  execDefaultMs: number;
  /** A write with input, or with a signal, a resize or an end of input. */
  writeMinMs: number;
  writeMaxMs: number;
  writeDefaultMs: number;
  /** A write without any: it only waits. */
  pollMinMs: number;
  pollMaxMs: number;
}

/** What applies where `defaults.windows` says nothing, milliseconds. */
export const DEFAULT_WINDOW_BOUNDS: WindowBounds = {
  execMinMs: 250,
  execMaxMs: 30_000,
  execDefaultMs: 10_000,
  writeMinMs: 250,
  writeMaxMs: 30_000,
  writeDefaultMs: 250,
  pollMinMs: 5_000,
  pollMaxMs: 300_000,
};

/** Budget of a result when the model asks for none, tokens of 4 bytes. */
export const DEFAULT_MAX_OUTPUT_TOKENS = 10_000;
/** Largest budget a model may ask for, tokens of 4 bytes. */
export const DEFAULT_MAX_OUTPUT_TOKENS_CAP = 50_000;
/** Largest piece of live output that is joined to one that waits, and largest result of that, bytes. */
export const SMALL_OUTPUT_BYTES = 2048;
export const JOINED_OUTPUT_BYTES = 64 * 1024;
/** Live output that is kept for a loop that has not begun, while its result is waited for already, bytes. */
export const UNREAD_OUTPUT_BYTES = 1024 * 1024;
/** What a waiting piece of live output takes besides its bytes, about. */
export const QUEUED_PIECE_BYTES = 256;
/**
 * Milliseconds that the first call of a command waits: a short program ends within it, and needs no second call. Nothing
 * can be typed before its answer, which names the session.
 */
export const FIRST_WINDOW_MS = 10;
