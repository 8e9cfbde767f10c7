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

/** Bounds of what an endpoint can make grow. */
export interface ModelLimits {
  /** Characters of one event of a stream; an item with everything in it is one event. */
  readonly eventChars: number;
  /** Bytes of one response, deltas included. */
  readonly responseBytes: number;
  /** Items of one response. */
  readonly responseItems: number;
  /** Bytes of an error's body that are read. */
  readonly errorBodyBytes: number;
}

/** What applies where nothing else is said. */
export const DEFAULT_MODEL_LIMITS: ModelLimits = {
  eventChars: 64 * 1024 * 1024,
  responseBytes: 512 * 1024 * 1024,
  responseItems: 4096,
  errorBodyBytes: 16 * 1024,
};

/** Silence, headers included, after which a stream counts as broken, milliseconds. Any byte ends a silence. */
export const DEFAULT_STREAM_IDLE_MS = 300_000;
/** Bytes that the program for a token may print. */
export const TOKEN_BYTES = 64 * 1024;
/** Shortest pause before a repeated request that is reported to the user, milliseconds. */
export const TOLD_PAUSE_MS = 2_000;

/** Bounds of a thread and its turns. */
export interface TurnLimits {
  /** Characters of a command's output that its item shows. */
  readonly shownOutputChars: number;
  /** Events that wait for their reader; at the bound the turn waits for it. */
  readonly queuedEvents: number;
  /** Bytes of the user's own messages that outlive a compaction. */
  readonly compactedUserBytes: number;
  /** Times that a history is shortened and asked to be summarized again, when it is too long for that. */
  readonly compactionTries: number;
  /** Sessions that are followed at once. */
  readonly followedSessions: number;
}

/** What applies where nothing else is said. */
export const DEFAULT_TURN_LIMITS: TurnLimits = {
  shownOutputChars: 1024 * 1024,
  queuedEvents: 1024,
  compactedUserBytes: 80_000,
  compactionTries: 6,
  followedSessions: 256,
};

/** Bounds of threads that are kept. */
export interface ThreadLimits {
  /** Bytes of a thread's file that is read. */
  readonly fileBytes: number;
  /** Bytes of one line, an image included. */
  readonly lineBytes: number;
  /** Bytes of the first line. */
  readonly metaBytes: number;
  /** Files that are looked at for a list, of the latest days first. */
  readonly listedThreads: number;
}

/** What applies where nothing else is said. */
export const DEFAULT_THREAD_LIMITS: ThreadLimits = {
  fileBytes: 1024 * 1024 * 1024,
  lineBytes: 64 * 1024 * 1024,
  metaBytes: 1024 * 1024,
  listedThreads: 20_000,
};

/** Bytes of all files of one patch together, before it. */
export const MAX_PATCHED_BYTES = 128 * 1024 * 1024;

/** Changed files of which an answer tells what is true of each. */
export const MAX_TOLD_FILES = 100;

/** Largest picture that is shown to a model, bytes. */
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024;

/** Longest side of such a picture, pixels. */
export const MAX_IMAGE_SIDE = 8192;

/** Pictures of one result that the model is shown; further ones are named in its text. */
export const MAX_RESULT_IMAGES = 16;

/** Steps of a plan. */
export const MAX_PLAN_STEPS = 200;

/** Bytes of all instructions of a project, unless the configuration says otherwise. The figure is Codex's. */
export const DEFAULT_PROJECT_DOC_BYTES = 32_768;

/** Largest file with instructions that is read at all, bytes. */
export const MAX_READ_DOC_BYTES = 4 * 1024 * 1024;

/** Skills that are looked at in one directory of skills, and that are listed. */
export const MAX_LISTED_SKILLS = 200;

/** Largest `SKILL.md`, bytes. */
export const MAX_SKILL_BYTES = 256 * 1024;

/** Characters of a skill's name, and of its description; a longer description is cut. */
export const MAX_SKILL_NAME = 64;
export const MAX_SKILL_DESCRIPTION = 1024;
