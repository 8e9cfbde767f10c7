import type { OutputLogLimits } from "@codex/exec-backend";

/** Bounds of an executor: whatever an orchestrator or a process can make grow. All count for one channel. */
export interface ExecutorLimits {
  /** Tool calls under way at once. */
  inFlightCalls: number;
  /** Sessions kept at once; at the limit the least recently used one is ended. */
  sessions: number;
  /** The most recently used sessions, which are never ended to make room. */
  newestSessions: number;
  /** Ended sessions that are remembered by id and outcome. */
  recentSessions: number;
  /** Ended sessions of these whose output stays readable. */
  retainedLogs: number;
  /** Longest window of a call, milliseconds. */
  windowMs: number;
  /** Largest budget of a result, bytes: what is retained in memory of one session. */
  budgetBytes: number;
  /** Up to this many bytes a result over its budget is read whole, to count its lines. */
  countedBytes: number;
  /** Bytes of input that may wait until a program reads them, for one session. */
  waitingInputBytes: number;
  /** Answers kept for repeats of a keyed call, and their bytes together. */
  keptAnswers: number;
  keptAnswerBytes: number;
  /** Keys remembered, so that a repeat whose answer is no longer kept still does nothing. */
  keptKeys: number;
  /** Digests of keys remembered beyond them, about 70 bytes each; when all are taken, calls with an unknown key are refused. */
  forgottenKeys: number;
  /** Series of numbered keys of which the last forgotten number is remembered. */
  keySeries: number;
  /** Answers that were sent and not acknowledged, for one that comes back; and bytes of them with their output. */
  unacknowledgedAnswers: number;
  unacknowledgedBytes: number;
  /**
   * Orchestrators of one executor whose channel was lost and that may resume; the one lost first is ended. Those with
   * work under way, those with results alone and those with nothing to lose are counted each for themselves.
   */
  lostChannels: number;
  /** Bytes of an `idempotencyKey` or `writeId`. */
  keyBytes: number;
  /** Approvals of which it is remembered what they were used for. */
  rememberedApprovals: number;
  /** Rendered terminals kept for `read_screen`; the least recently read one is dropped, and rendered again when needed. */
  screens: number;
  /** Largest piece of live output in one binary frame, bytes. */
  binaryDeltaBytes: number;
  /** Open tunnels to the exec-server beside the executor, and bytes that an orchestrator may have on its way in each. */
  execServerTunnels: number;
  execServerWindowBytes: number;
  /**
   * Retention of one session's output; what is left out is the backend's default. `lendsChunks` says that the orchestrator lies
   * in this process and looks at output only until it has acknowledged it; it counts for sessions that are paused when full.
   */
  log: Partial<OutputLogLimits>;
}

/** The limits of an executor that is given none. */
export const DEFAULT_EXECUTOR_LIMITS: ExecutorLimits = {
  inFlightCalls: 256,
  sessions: 64,
  newestSessions: 8,
  recentSessions: 256,
  retainedLogs: 16,
  windowMs: 300_000,
  budgetBytes: 1024 * 1024,
  countedBytes: 1024 * 1024,
  waitingInputBytes: 16 * 1024 * 1024,
  keptAnswers: 256,
  keptAnswerBytes: 8 * 1024 * 1024,
  keptKeys: 4096,
  forgottenKeys: 262_144,
  keySeries: 256,
  unacknowledgedAnswers: 512,
  unacknowledgedBytes: 32 * 1024 * 1024,
  lostChannels: 64,
  keyBytes: 256,
  rememberedApprovals: 4096,
  screens: 8,
  binaryDeltaBytes: 64 * 1024,
  execServerTunnels: 8,
  execServerWindowBytes: 1024 * 1024,
  log: {},
};

/** Ids of former live output that are not given again; more than an orchestrator is to remember positions of. */
export const FORMER_IDS = 4096;

/** Milliseconds without output after an exit, that end a wait while another process holds the streams open. */
export const POST_EXIT_MS = 50;

/** The same where the output comes over a network, behind the exit. */
export const REMOTE_POST_EXIT_MS = 500;

/** Levels of arrays and objects in the JSON Schema of a tool; a message that lists it may have 128. */
export const MAX_SCHEMA_DEPTH = 100;

/** Milliseconds that the answer to concurrent input of a terminal waits at most, to let the echo go first. */
export const ECHO_MS = 1;

/** Milliseconds that a call waits to learn what became of input to a process that has ended. */
export const INPUT_ANSWER_MS = 1_000;

/** Milliseconds after an exit that end it though output still comes. */
export const LONGEST_POST_EXIT_MS = 1_000;

/** How long everything lives on after a channel was lost, unless given, milliseconds. */
export const DEFAULT_RESUME_GRACE_MS = 30_000;

/** Live output on its way to an orchestrator that acknowledges, bytes of one session; less where less is retained. */
export const MAX_UNACKNOWLEDGED_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Output that a program may be ahead of who receives it when it is to be paused, bytes; less where less is retained. */
export const MAX_PAUSED_OUTPUT_BYTES = 256 * 1024;

/** Output of a tool that is retained until it was received, bytes. */
export const TOOL_OUTPUT_BYTES = 1024 * 1024;

/** Largest piece of live output in one JSON message, bytes. */
export const MAX_DELTA_BYTES = 8192;

/** Milliseconds between SIGTERM and SIGKILL for a session that makes room, or that is ended with its channel. */
export const PRUNE_GRACE_MS = 500;
export const SHUTDOWN_GRACE_MS = 300;

/** Milliseconds until all sessions have ended at shutdown; the steps of one termination take less. */
export const LAST_SESSIONS_MS = 10_000;

/** Milliseconds after the end of all sessions in which calls may still answer. */
export const LAST_ANSWERS_MS = 1_000;

/** Resizes of one session that are remembered; of older ones only the last size is. */
export const MAX_RESIZES = 1024;

/** Cells (rows × columns) of a terminal that is rendered; each takes 12 bytes, twice with an alternate screen. */
export const MAX_SCREEN_CELLS = 250_000;

/** Bytes of output given to a screen at once, and milliseconds after which everything else gets its turn. */
export const MAX_SCREEN_PIECE_BYTES = 2048;
export const SCREEN_TURN_MS = 8;

/** Milliseconds that one call renders; the next one goes on. A hostile program can make a screen expensive. */
export const SCREEN_RENDER_MS = 5_000;

/** Bytes and pieces of output in one answer to a program that records. */
export const MAX_RECORDED_BYTES = 256 * 1024;
export const MAX_RECORDED_CHUNKS = 4096;

/** Bytes of a log read at once. */
export const LOG_READ_BYTES = 256 * 1024;

/** Milliseconds without output before a program is checked for whether it waits for input. */
export const PROMPT_QUIET_MS = 20;

/** The same where input is one of the things it waits for, or where that cannot be seen. */
export const PROMPT_LISTENS_MS = 300;
export const PROMPT_GUESS_MS = 1_000;

/** Each further check of a silent program comes after a delay this many times the one before. */
export const PROMPT_BACKOFF = 1.5;

/** Bytes of a name or command that is quoted in a message. */
export const MAX_QUOTED_BYTES = 256;

/** The given limits over the defaults. @throws RangeError naming a limit that is not a positive integer. */
export function resolveLimits(limits: Partial<ExecutorLimits> = {}): ExecutorLimits {
  const resolved = { ...DEFAULT_EXECUTOR_LIMITS, ...limits };
  for (const [name, value] of Object.entries(resolved)) {
    if (name !== "log" && (!Number.isSafeInteger(value) || Number(value) < 1)) {
      throw new RangeError(`executor limit \`${name}\` must be a positive integer, got ${value}`);
    }
  }
  return resolved;
}
