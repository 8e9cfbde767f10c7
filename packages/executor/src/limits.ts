import type { OutputLogLimits } from "@codex/exec-backend";

/** Bounds of an executor on everything that an orchestrator or a process can make grow, for each channel. */
export interface ExecutorLimits {
  /** Concurrent tool calls. */
  inFlightCalls: number;
  /** Sessions kept at once; at the limit the least recently used one is ended. */
  sessions: number;
  /** The most recently used sessions, which are never ended to make room. */
  newestSessions: number;
  /** Ended sessions that are remembered by id and outcome. */
  recentSessions: number;
  /** Ended sessions among these whose output stays readable. */
  retainedLogs: number;
  /** Longest window of a call, milliseconds. */
  windowMs: number;
  /** Largest budget of a result, bytes: what is retained in memory of one session. */
  budgetBytes: number;
  /** A result over its budget is read in full up to this size, bytes, to count its lines. */
  countedBytes: number;
  /** Bytes of input of one session that wait until the program reads them. */
  waitingInputBytes: number;
  /** Results of calls with an idempotency key that are retained for repeats, and their total bytes. */
  retainedResults: number;
  retainedResultBytes: number;
  /** Idempotency keys that are retained, so that a repeat whose result is no longer retained still runs nothing. */
  retainedKeys: number;
  /** Digests of older keys, about 70 bytes each; at the limit, calls with an unknown key are refused. */
  forgottenKeys: number;
  /** Series of numbered keys (SERIES#NUMBER) of which the last number is retained; those of each tool, session and client are separate. */
  keySeries: number;
  /** Results that were sent but not acknowledged, for an orchestrator that resumes; and their bytes, output included. */
  unacknowledgedResults: number;
  unacknowledgedBytes: number;
  /**
   * Orchestrators of one executor that lost their channel and may resume; over the limit the first to lose it is ended. Those
   * with work in progress, those with results only and those with neither are counted separately.
   */
  lostChannels: number;
  /** Bytes of an `idempotencyKey` or `writeId`. */
  keyBytes: number;
  /** Approvals that one connection may use: each stays bound to its request, and further ones are refused. */
  rememberedApprovals: number;
  /** Rendered terminals retained for `read_screen`; the least recently read one is dropped, and rendered again when needed. */
  screens: number;
  /** Largest piece of live output in one binary frame, bytes. */
  binaryDeltaBytes: number;
  /** Open tunnels to the executor's exec-server, and the receive window of each in bytes. */
  execServerTunnels: number;
  execServerWindowBytes: number;
  /**
   * Retention of one session's output; defaults are those of the backend. `lendsChunks`: the orchestrator is in this process and
   * neither it nor its observers, such as a live view, use output after acknowledging it, since its memory is reused; this applies to
   * sessions that are paused when full.
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
  retainedResults: 256,
  retainedResultBytes: 8 * 1024 * 1024,
  retainedKeys: 4096,
  forgottenKeys: 262_144,
  keySeries: 1024,
  unacknowledgedResults: 512,
  unacknowledgedBytes: 32 * 1024 * 1024,
  lostChannels: 64,
  keyBytes: 256,
  rememberedApprovals: 65_536,
  screens: 8,
  binaryDeltaBytes: 64 * 1024,
  execServerTunnels: 8,
  execServerWindowBytes: 1024 * 1024,
  log: {},
};

/** Ids of ended live output that are not reused; more than the positions that an orchestrator remembers. */
export const FORMER_IDS = 4096;

/** Milliseconds without output after an exit, after which a wait ends although another process has the streams open. */
export const POST_EXIT_MS = 50;

/** The same if output arrives over a network, after the exit. */
export const REMOTE_POST_EXIT_MS = 500;

/** Levels of arrays and objects in the JSON Schema of a tool; a whole message may have 128. */
export const MAX_SCHEMA_DEPTH = 100;

/** Most milliseconds that the result of concurrent terminal input is delayed, so that the echo is sent first. */
export const ECHO_MS = 1;

/**
 * Milliseconds after the cancellation of a call at which a command that it could not start yet is given up. Below the time that an
 * orchestrator still waits for the result.
 */
export const CANCELLED_START_MS = 1_000;

/** Milliseconds that a call waits for the result of input to a process that has ended. */
export const INPUT_RESULT_MS = 1_000;

/** Milliseconds after an exit that end a wait although output still arrives. */
export const LONGEST_POST_EXIT_MS = 1_000;

/** Default time to resume after a channel was lost, milliseconds. */
export const DEFAULT_RESUME_GRACE_MS = 30_000;

/** Unacknowledged live output of one session, bytes; less where less is retained. */
export const MAX_UNACKNOWLEDGED_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Unacknowledged output at which a program is paused whose output must not be lost, bytes; less where less is retained. */
export const MAX_PAUSED_OUTPUT_BYTES = 1536 * 1024;

/** Output of a tool that is retained until it is acknowledged, bytes. */
export const TOOL_OUTPUT_BYTES = 1024 * 1024;

/** Largest piece of live output in one JSON message, bytes. */
export const MAX_DELTA_BYTES = 8192;

/** Milliseconds between SIGTERM and SIGKILL for a session that is ended by the limit, or with its channel. */
export const PRUNE_GRACE_MS = 500;
export const SHUTDOWN_GRACE_MS = 300;

/** For so long a detached session can be read after its end, milliseconds. */
export const DETACHED_RETENTION_MS = 600_000;

/** Between SIGTERM and SIGKILL for a session of an executor that is asked to end: its program has time to finish its output, milliseconds. */
export const DRAIN_GRACE_MS = 2_000;

/** Most milliseconds that an executor that ends waits for an orchestrator to ask how a program ended that ran until then. */
export const LAST_REPORTS_MS = 1_000;

/** Milliseconds without a call after which an executor that ends assumes that its orchestrator has all results. */
export const DRAIN_QUIET_MS = 100;

/** Interval at which an executor that ends polls for that, milliseconds. */
export const DRAIN_POLL_MS = 20;

/** Most milliseconds until all sessions have ended at shutdown; more than one termination takes. */
export const LAST_SESSIONS_MS = 10_000;

/** Milliseconds after the end of all sessions in which calls may still complete. */
export const LAST_CALLS_MS = 1_000;

/** Resizes of one session that are retained; of older ones only the last size. */
export const MAX_RESIZES = 1024;

/** Runs of one style in a screen with colors; each takes up to 200 bytes of the result. */
export const MAX_STYLED_RUNS = 40_000;

/** Cells (rows × columns) of a terminal that is rendered; each takes 12 bytes, twice with an alternate screen. */
export const MAX_SCREEN_CELLS = 250_000;

/** Bytes of output rendered at a time, and milliseconds of rendering after which it yields to the event loop. */
export const MAX_SCREEN_PIECE_BYTES = 2048;
export const SCREEN_TURN_MS = 8;

/** Most milliseconds of rendering in one call; the next call continues. A hostile program can make a screen expensive. */
export const SCREEN_RENDER_MS = 5_000;

/** Bytes and chunks of output in one result for a recording. */
export const MAX_RECORDED_BYTES = 256 * 1024;
export const MAX_RECORDED_CHUNKS = 4096;

/** Bytes of a log read at a time. */
export const LOG_READ_BYTES = 256 * 1024;

/** Milliseconds without output before a program is checked for whether it waits for input. */
export const PROMPT_QUIET_MS = 20;

/** The same for a program that also waits for other events, and for a host on which this cannot be determined. */
export const PROMPT_LISTENS_MS = 300;
export const PROMPT_GUESS_MS = 1_000;

/** Factor by which the delay grows from one check of a silent program to the next. */
export const PROMPT_BACKOFF = 1.5;

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

/** Milliseconds between two reports about the hosts of a session. */
export const HOST_REPORT_MS = 1_000;
/** Kinds of connections that reports of one session tell apart. */
export const MAX_REPORTED_HOSTS = 256;
