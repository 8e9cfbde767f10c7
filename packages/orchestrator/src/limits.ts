import {
  DEFAULT_EXECUTOR_CONNECTION_LIMITS,
  DEFAULT_EXECUTOR_CONNECTION_TIMINGS,
  type ExecutorConnectionLimits,
  type ExecutorConnectionTimings,
} from "@codex/executor-client";

/** Bounds of an orchestrator: whatever an executor, a model or a user can make grow. */
export interface OrchestratorLimits extends ExecutorConnectionLimits {
  /** Executors attached at once, the offline ones included. */
  executors: number;
  /** Environments added at once, whether an executor of theirs is attached or not. */
  environments: number;
  /** Tool calls under way at once, those that wait for an approval included. */
  inFlightCalls: number;
  /** Bytes of a call's arguments when the model sends them as JSON text. */
  argumentBytes: number;
  /** Bytes of text that one result may give to the model; the end is cut. */
  resultTextBytes: number;
  /** Decisions remembered for the session; the oldest is forgotten. */
  rememberedApprovals: number;
  /** Idempotency keys of calls that are remembered; the oldest is forgotten. */
  keyedCalls: number;
  /** Bytes of text of the results that are kept for repeats of those calls; the oldest is dropped. */
  keyedResultBytes: number;
  /** Session ids remembered over all executors; ended ones are forgotten first. */
  rememberedSessions: number;
}

/** What applies where `defaults.limits` says nothing. */
export const DEFAULT_ORCHESTRATOR_LIMITS: OrchestratorLimits = {
  ...DEFAULT_EXECUTOR_CONNECTION_LIMITS,
  executors: 64,
  environments: 1024,
  inFlightCalls: 256,
  argumentBytes: 4 * 1024 * 1024,
  resultTextBytes: 1024 * 1024,
  rememberedApprovals: 1000,
  keyedCalls: 4096,
  keyedResultBytes: 16 * 1024 * 1024,
  rememberedSessions: 1024,
};

/** How long things may take, milliseconds. */
export interface OrchestratorTimings extends ExecutorConnectionTimings {
  /** Until a channel that is handed in as a promise must be there. */
  connectMs: number;
  /** For the answer to a unified-exec call, on top of its window. */
  answerMarginMs: number;
  /** For the answer of any other tool. */
  toolAnswerMs: number;
  /** For the answer to a call after it was cancelled. */
  cancelGraceMs: number;
  /** For a person's decision; 0 waits without end. */
  approvalMs: number;
}

/** What applies where `defaults.timings` says nothing, milliseconds. */
export const DEFAULT_ORCHESTRATOR_TIMINGS: OrchestratorTimings = {
  ...DEFAULT_EXECUTOR_CONNECTION_TIMINGS,
  connectMs: 30_000,
  answerMarginMs: 30_000,
  toolAnswerMs: 600_000,
  cancelGraceMs: 5_000,
  approvalMs: 0,
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
/** Bytes of `via` of an approval that are kept. */
export const MAX_VIA_BYTES = 64;
/** Questions of an agent stack that are remembered until they are answered. */
export const REMEMBERED_QUESTIONS = 1000;
/** Running sessions of a group that are remembered for its end. */
export const REMEMBERED_SESSIONS = 1000;
/** Bytes of a file that is read whole. */
export const MAX_READ_FILE_BYTES = 64 * 1024 * 1024;
