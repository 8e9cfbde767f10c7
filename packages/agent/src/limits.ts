/** Limits of a thread and its turns. */
export interface TurnLimits {
  /** Characters of a command's output kept in its item. */
  readonly shownOutputChars: number;
  /** Buffered events; at the limit the turn waits for its consumer. */
  readonly queuedEvents: number;
  /** Bytes of user messages kept by a compaction. */
  readonly compactedUserBytes: number;
  /** How many times a history that is too long to summarize is shortened. */
  readonly compactionTries: number;
  /** Sessions tracked concurrently. */
  readonly trackedSessions: number;
}

/** Default limits. */
export const DEFAULT_TURN_LIMITS: TurnLimits = {
  shownOutputChars: 1024 * 1024,
  queuedEvents: 1024,
  compactedUserBytes: 80_000,
  compactionTries: 6,
  trackedSessions: 256,
};

/** Limits on saved threads. */
export interface ThreadLimits {
  /** Bytes of a thread's file. */
  readonly fileBytes: number;
  /** Bytes of one line, which may contain an image. */
  readonly lineBytes: number;
  /** Bytes of the first line. */
  readonly metaBytes: number;
  /** Files examined for a list, latest days first. */
  readonly listedThreads: number;
}

/** Default limits. */
export const DEFAULT_THREAD_LIMITS: ThreadLimits = {
  fileBytes: 1024 * 1024 * 1024,
  lineBytes: 64 * 1024 * 1024,
  metaBytes: 1024 * 1024,
  listedThreads: 20_000,
};

/** Threads named in an error about an ambiguous id prefix. */
export const MAX_NAMED_THREADS = 5;

/** Images of one tool result sent to the model; further ones are only mentioned in its text. */
export const MAX_RESULT_IMAGES = 16;

/** Characters of the images of one tool result sent to the model, as data URLs: with its text they fit in one line of a thread. */
export const MAX_RESULT_IMAGE_CHARS = 32 * 1024 * 1024;

/** Steps of a plan. */
export const MAX_PLAN_STEPS = 200;

/** Default total bytes of project instructions, as in Codex. */
export const DEFAULT_PROJECT_DOC_BYTES = 32_768;

/** Maximum size of an instructions file, bytes. */
export const MAX_READ_DOC_BYTES = 4 * 1024 * 1024;

/** Skills read per skills directory, and listed in total. */
export const MAX_LISTED_SKILLS = 200;

/** Maximum size of a `SKILL.md`, bytes. */
export const MAX_SKILL_BYTES = 256 * 1024;

/** Maximum characters of a skill's name, and of its description, which is truncated. */
export const MAX_SKILL_NAME = 64;
export const MAX_SKILL_DESCRIPTION = 1024;

/** Directories that are searched for temporary files of an interrupted patch. */
export const MAX_SEARCHED_DIRECTORIES = 16;

/** Entries examined in each of these directories. */
export const MAX_SEARCHED_ENTRIES = 20_000;

/** Characters of a prompt that are saved in addition to its item. */
export const MAX_SAVED_PROMPT = 4_096;
