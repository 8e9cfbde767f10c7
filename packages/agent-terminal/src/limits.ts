/** Bytes of a prompt, including stdin. */
export const MAX_PROMPT_BYTES = 32 * 1024 * 1024;

/** Bytes of one attached image. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** Bytes of a file with a JSON schema. */
export const MAX_SCHEMA_BYTES = 1024 * 1024;

/** Milliseconds before a notice that stdin is awaited. */
export const STDIN_NOTICE_MS = 2_000;

/** Columns of the line below the header. */
export const RULE_COLUMNS = 8;

/** Characters shown of a tool call's input. */
export const SHOWN_INPUT_CHARS = 2_000;

/** Lines and characters above which a paste is shown by its size. */
export const CHIP_LINES = 10;
export const CHIP_CHARS = 1_000;

/** Entries of the input history (↑). */
export const HISTORY_ENTRIES = 200;

/** Timeout of an incomplete escape sequence, milliseconds. */
export const ESCAPE_WAIT_MS = 50;

/** Milliseconds between redraws. */
export const DRAW_MS = 40;

/** Milliseconds between updates of elapsed times. */
export const TICK_MS = 1_000;

/** Output lines shown of all running commands together. */
export const LIVE_LINES = 6;

/** Characters kept of a live output line. */
export const LIVE_LINE_CHARS = 1_000;

/** Lines shown of a completed command's output, half from each end. */
export const KEPT_LINES = 40;

/** Characters of such a line. */
export const KEPT_LINE_CHARS = 2_000;

/** Milliseconds within which a second Ctrl-C leaves. */
export const LEAVE_MS = 2_000;

/** Pause in typing after which keys go to an open dialog, milliseconds. */
export const QUESTION_PAUSE_MS = 1_000;

/** Messages queued during a turn. */
export const QUEUED_MESSAGES = 100;

/** Threads listed for selection. */
export const LISTED_THREADS = 20;

/** Bytes shown of a diff. */
export const MAX_DIFF_BYTES = 1024 * 1024;

/** Timeouts for listing sessions, and for ending one, milliseconds. */
export const SESSIONS_MS = 2_000;
export const END_SESSION_MS = 10_000;

/** Characters of a conversation, and of one item, sent to a model that decides about approvals. */
export const MAX_REVIEWED_CHARS = 100_000;
export const MAX_REVIEWED_ITEM_CHARS = 8_000;

/** Attempts to get a decision from a model. */
export const REVIEW_ATTEMPTS = 3;
