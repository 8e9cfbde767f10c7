import {
  DEFAULT_EXECUTOR_CONNECTION_LIMITS,
  DEFAULT_EXECUTOR_CONNECTION_TIMINGS,
  type ExecutorConnectionLimits,
  type ExecutorConnectionTimings,
} from "@codex/executor-client";

/** Bounds of an orchestrator on everything that an executor, a model or a user can make grow. */
export interface OrchestratorLimits extends ExecutorConnectionLimits {
  /** Attached executors, including offline ones. */
  executors: number;
  /** Added environments, with or without an attached executor. */
  environments: number;
  /** Concurrent tool calls, including those that wait for an approval. */
  inFlightCalls: number;
  /** Concurrent reads for display, which take no room from tool calls. */
  displayCalls: number;
  /** Bytes of a call's arguments when the model sends them as JSON text. */
  argumentBytes: number;
  /** Bytes of text in one result for the model; the end is cut. */
  resultTextBytes: number;
  /** Decisions remembered for the session; the oldest is forgotten. */
  rememberedApprovals: number;
  /** Idempotency keys of calls that are remembered; the oldest of a completed call is forgotten. */
  keyedCalls: number;
  /** Bytes of the results that are retained for repeats of those calls; the oldest is dropped. */
  keyedResultBytes: number;
  /** Session ids remembered over all executors: ended ones are forgotten first, live ones never; with so many live no command is started. */
  rememberedSessions: number;
}

/** Defaults of `defaults.limits`. */
export const DEFAULT_ORCHESTRATOR_LIMITS: OrchestratorLimits = {
  ...DEFAULT_EXECUTOR_CONNECTION_LIMITS,
  executors: 64,
  environments: 1024,
  inFlightCalls: 256,
  displayCalls: 32,
  argumentBytes: 4 * 1024 * 1024,
  resultTextBytes: 1024 * 1024,
  rememberedApprovals: 1000,
  keyedCalls: 4096,
  keyedResultBytes: 16 * 1024 * 1024,
  rememberedSessions: 1024,
};

/** Questions that the programs of one command may raise; those that would raise more are refused. */
export const MAX_PROGRAM_QUESTIONS = 8;
/** How long a program waits for its answer, milliseconds. */
export const PROGRAM_QUESTION_MS = 300_000;
/** The same for a connection to a host. */
export const HOST_QUESTION_MS = 300_000;

/** Time limits, milliseconds. */
export interface OrchestratorTimings extends ExecutorConnectionTimings {
  /** For a channel that is passed as a promise. */
  connectMs: number;
  /** For the response to a unified-exec call, in addition to its window. */
  answerMarginMs: number;
  /** For the response of any other tool. */
  toolAnswerMs: number;
  /** For the response to a call after it was cancelled. */
  cancelGraceMs: number;
  /** For the decision of an approver; 0: unlimited. */
  approvalMs: number;
}

/** Defaults of `defaults.timings`, milliseconds. */
export const DEFAULT_ORCHESTRATOR_TIMINGS: OrchestratorTimings = {
  ...DEFAULT_EXECUTOR_CONNECTION_TIMINGS,
  connectMs: 30_000,
  answerMarginMs: 30_000,
  toolAnswerMs: 600_000,
  cancelGraceMs: 5_000,
  approvalMs: 0,
};

/** Defaults and bounds of the windows that a model may request, milliseconds. */
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

/** Defaults of `defaults.windows`, milliseconds. */
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

/** Default budget of a result, tokens of 4 bytes. */
export const DEFAULT_MAX_OUTPUT_TOKENS = 10_000;
/** Largest budget that a model may request, tokens of 4 bytes. */
export const DEFAULT_MAX_OUTPUT_TOKENS_CAP = 50_000;
/** Maximum bytes of `via` of an approval; the rest is cut. */
export const MAX_VIA_BYTES = 64;
/** Approval requests of an agent stack that are remembered until there is a decision. */
export const REMEMBERED_QUESTIONS = 1000;
/** Running sessions of a group; for one more, the one that was used the longest time ago is ended. */
export const GROUP_SESSIONS = 4096;
/** Sessions of a group that are ended at once when it is closed. */
export const CONCURRENT_ENDS = 8;
/** Milliseconds until a session is to be ended again where the limit of concurrent calls was reached. */
export const END_RETRY_MS = 50;
/** Maximum size of a file that is read as a whole, bytes. */
export const MAX_READ_FILE_BYTES = 64 * 1024 * 1024;
