/** Output of one process on its way to a connection, bytes; more holds the process back. */
export const FOLLOW_WINDOW_BYTES = 256 * 1024;

/** Output kept of each process in memory, bytes. Covers what a broken connection may have had under way. */
export const RETAINED_BYTES = 8 * 1024 * 1024;

/**
 * The same of all processes of one session, and of all sessions of a server; beyond it ended ones are forgotten early and
 * each keeps less, but not less than the third figure.
 */
export const MAX_RETAINED_BYTES = 256 * 1024 * 1024;
export const MAX_RETAINED_BYTES_IN_ALL = 512 * 1024 * 1024;
export const MIN_RETAINED_BYTES = 512 * 1024;

/** Output after which it is looked at how much is kept, bytes. */
export const CHECKED_GROWTH_BYTES = 16 * 1024 * 1024;

/** What is written to a connection and waits for the kernel, bytes; more holds programs back. An answer waits behind it. */
export const MAX_QUEUED_BYTES = 256 * 1024;

/** Output a process may write while its session has no connection, bytes; more holds it back, so that none is lost. */
export const AWAY_WINDOW_BYTES = 1024 * 1024;

/** Output in one answer of `process/read`, bytes: its base64 stays within the 16 MiB frames that Codex 0.169.0 takes. */
export const MAX_READ_BYTES = 11 * 1024 * 1024;

/** Largest chunk that a pipe or a terminal makes, bytes. */
export const MAX_CHUNK_BYTES = 64 * 1024;

/** Memory for one message with output, bytes: the largest chunk in base64, and what is around it. */
export const MESSAGE_SLAB_BYTES = 96 * 1024;

/** Write ids remembered of each process; the figure is Codex's. */
export const MAX_REMEMBERED_WRITES = 4096;

/** Processes of one session that have not ended. */
export const MAX_LIVE_PROCESSES = 4096;

/** Ended processes of one session that are still readable; beyond it the oldest is forgotten early. */
export const MAX_ENDED_PROCESSES = 4096;

/** Ids of one session whose processes were forgotten early; beyond it no process is started until some were dropped. */
export const MAX_FORGOTTEN_IDS = 524_288;

/** Milliseconds an ended process stays readable after its output was complete; the figure is Codex's. */
export const ENDED_RETENTION_MS = 80_000;

/** Milliseconds a session without a connection lives; the figure is Codex's, whose client tries for 45 s. */
export const DETACHED_SESSION_MS = 80_000;

/** Sessions of one server, detached ones included; of those the ones with nothing to lose make room. */
export const MAX_SESSIONS = 1024;

/** Milliseconds after a resume in which a process waits for the client to read what it missed. */
export const CATCH_UP_MS = 10_000;

/** Requests of one connection that are not answered yet; at the bound nothing more is read from it. */
export const MAX_HANDLED_REQUESTS = 16_384;

/** Answers to malformed messages that a client has not read; one more ends the connection. */
export const MAX_UNSENT_COMPLAINTS = 1024;

/** Milliseconds that requests in work have once stdin has ended. */
export const DRAIN_MS = 5_000;

/** Milliseconds that a client has to show that it is there when another connection wants its session. */
export const LIVENESS_MS = 3_000;

/** Milliseconds for writing what was sent to a client that broke the protocol. */
export const VIOLATION_CLOSE_MS = 1_000;

/** Milliseconds for writing what was sent when the server closes. */
export const SERVER_CLOSE_MS = 200;

/** Largest message of a client, bytes; the figure is Codex's. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** Largest message to a client, bytes: a file of 512 MiB in base64. */
export const MAX_ANSWER_BYTES = 720 * 1024 * 1024;

/** Bytes of files in answers to one connection, and to all of a server, that were not sent; a larger file is read alone. */
export const MAX_ANSWERED_BYTES = 64 * 1024 * 1024;
export const MAX_ANSWERED_BYTES_IN_ALL = 512 * 1024 * 1024;

/** Milliseconds that a file waits for what there is in all, and the bytes of one that does not. */
export const BUDGET_WAIT_MS = 10_000;
export const UNCOUNTED_BYTES = 256 * 1024;

/** File calls of one connection at work, or with an answer that was not sent. */
export const MAX_FILE_CALLS = 16;

/** Milliseconds between two pings of a client; the figure is Codex's. Missing answers are not punished, as there. */
export const PING_MS = 30_000;
