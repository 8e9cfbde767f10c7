/** Bytes of a prompt, what came over stdin included. */
export const MAX_PROMPT_BYTES = 32 * 1024 * 1024;

/** Bytes of one image that is sent along. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** Bytes of a file with a JSON schema. */
export const MAX_SCHEMA_BYTES = 1024 * 1024;

/** Milliseconds after which the user is told that stdin is being waited for. */
export const STDIN_NOTICE_MS = 2_000;

/** Columns of the line between the header and the conversation. */
export const RULE_COLUMNS = 8;

/** Characters of the input of a tool call that are shown. */
export const SHOWN_INPUT_CHARS = 2_000;

/** Lines and characters of a paste from which on it is drawn by its size. */
export const CHIP_LINES = 10;
export const CHIP_CHARS = 1_000;

/** Texts that can be had again with ↑. */
export const HISTORY_ENTRIES = 200;

/** Milliseconds after which the beginning of a key's sequence is not waited for any more. */
export const ESCAPE_WAIT_MS = 50;

/** Milliseconds between two drawings of the lower end of the terminal. */
export const DRAW_MS = 40;

/** Milliseconds after which the time that a command has taken is drawn again. */
export const TICK_MS = 1_000;

/** Last lines of the output of a command that are shown while it runs, for all of them together. */
export const LIVE_LINES = 6;

/** Characters of a line of output that are kept while it is shown. */
export const LIVE_LINE_CHARS = 1_000;

/** Lines of a command's output that stay on the terminal, the first half and the last. */
export const KEPT_LINES = 40;

/** Characters of such a line. */
export const KEPT_LINE_CHARS = 2_000;

/** Milliseconds in which a second Ctrl-C leaves. */
export const LEAVE_MS = 2_000;

/** Milliseconds without a key, after which what is typed answers a question that came while a text was typed. */
export const QUESTION_PAUSE_MS = 1_000;

/** Messages that wait for the end of a turn. */
export const QUEUED_MESSAGES = 100;

/** Threads that are listed to pick one. */
export const LISTED_THREADS = 20;

/** Bytes of a diff that are shown. */
export const MAX_DIFF_BYTES = 1024 * 1024;

/** Milliseconds that an executor has to list what runs, and to end a command. */
export const SESSIONS_MS = 2_000;
export const END_SESSION_MS = 10_000;

/** Characters of a conversation that a model sees when it decides about an approval, and of one item of it. */
export const MAX_REVIEWED_CHARS = 100_000;
export const MAX_REVIEWED_ITEM_CHARS = 8_000;

/** How often a model is asked for a decision before there is none. */
export const REVIEW_ATTEMPTS = 3;
