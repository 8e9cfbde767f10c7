/** Unsent output of one process to a connection, bytes; beyond it the process is paused. */
export const FOLLOW_WINDOW_BYTES = 256 * 1024;

/** Output of each process retained in memory, bytes. Covers what a lost connection may have had in flight. */
export const RETAINED_BYTES = 8 * 1024 * 1024;

/**
 * The same for all processes of a session, and for all sessions of a server. Beyond it closed processes are evicted early
 * and each process retains less, down to MIN_RETAINED_BYTES.
 */
export const MAX_RETAINED_BYTES = 256 * 1024 * 1024;
export const MAX_TOTAL_RETAINED_BYTES = 512 * 1024 * 1024;
export const MIN_RETAINED_BYTES = 512 * 1024;

/** New output after which the limits of retention are checked, bytes. */
export const RETENTION_CHECK_BYTES = 16 * 1024 * 1024;

/** Bytes queued in a connection; beyond it programs are paused. Responses wait behind them. */
export const MAX_QUEUED_BYTES = 256 * 1024;

/** Output a process may write while its session has no connection, bytes; beyond it the process is paused. */
export const DETACHED_WINDOW_BYTES = 1024 * 1024;

/** Output in one response to `process/read`, bytes: its base64 fits into the 16 MiB frames that Codex 0.169.0 accepts. */
export const MAX_READ_BYTES = 11 * 1024 * 1024;

/** Largest chunk read from a pipe or a terminal, bytes. */
export const MAX_CHUNK_BYTES = 64 * 1024;

/** Buffer for one output notification, bytes: the largest chunk in base64 and the JSON around it. */
export const MESSAGE_SLAB_BYTES = 96 * 1024;

/** Write ids remembered of each process; the figure is Codex's. */
export const MAX_REMEMBERED_WRITES = 4096;

/** Processes of one session that have not ended. */
export const MAX_LIVE_PROCESSES = 4096;

/** Ended processes of one session that are still readable; beyond it the oldest is evicted early. */
export const MAX_ENDED_PROCESSES = 4096;

/** Remembered ids of processes of a session that were evicted early; beyond it starts are refused until some expire. */
export const MAX_EVICTED_IDS = 524_288;

/** Milliseconds an ended process stays readable after its output was complete; the figure is Codex's. */
export const ENDED_RETENTION_MS = 80_000;

/** Milliseconds for which a session without a connection is retained; the figure is Codex's, whose client retries for 45 s. */
export const DETACHED_SESSION_MS = 80_000;

/** Sessions of one server; at the limit a detached session with nothing undelivered is ended. */
export const MAX_SESSIONS = 1024;

/** Milliseconds after a resume in which output is limited until the client has read what it missed. */
export const CATCH_UP_MS = 10_000;

/** Pending requests of one connection; at the limit nothing more is read from it. */
export const MAX_HANDLED_REQUESTS = 16_384;

/** Unsent error responses to malformed messages; one more ends the connection. */
export const MAX_UNSENT_PARSE_ERRORS = 1024;

/** Milliseconds that running requests have to finish once stdin has ended. */
export const DRAIN_MS = 5_000;

/** Milliseconds in which a client must respond to a ping when another connection resumes its session. */
export const LIVENESS_MS = 3_000;

/** Milliseconds to flush queued messages to a client that violated the protocol. */
export const VIOLATION_CLOSE_MS = 1_000;

/** Milliseconds between SIGTERM and SIGKILL for the processes of a server that is asked to end. */
export const DRAIN_GRACE_MS = 2_000;

/** Most milliseconds after this grace until a client has received the last events of these processes. */
export const DRAIN_DELIVERY_MS = 3_000;

/** Milliseconds without a request after which a server that ends assumes that a client has read the last output. */
export const DRAIN_QUIET_MS = 100;

/** Interval at which a server that ends polls for that, milliseconds. */
export const DRAIN_POLL_MS = 20;

/** Milliseconds to flush queued messages when the server closes. */
export const SERVER_CLOSE_MS = 200;

/** Largest message of a client, bytes; the figure is Codex's. */
export const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** Largest message to a client, bytes: a file of 512 MiB in base64. */
export const MAX_SENT_MESSAGE_BYTES = 720 * 1024 * 1024;

/**
 * Bytes of files in unsent responses of one connection, and of all connections; a larger file is read alone. The same again for
 * bodies of HTTP responses that are not streamed.
 */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
export const MAX_TOTAL_RESPONSE_BYTES = 512 * 1024 * 1024;

/** Milliseconds that a file waits for the total budget, and the size up to which a response needs no budget, bytes. */
export const BUDGET_WAIT_MS = 10_000;
export const UNBUDGETED_BYTES = 256 * 1024;

/** File calls of one connection that run or whose response is unsent. */
export const MAX_FILE_CALLS = 16;

/** Milliseconds between two pings of a client; the figure is Codex's. As in Codex, missing pongs have no consequence. */
export const PING_MS = 30_000;

/** Largest delay of `setTimeout`, milliseconds; a longer timeout never fires. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Skills and plugins of one discovery, each below one directory. */
export const MAX_DISCOVERED = 1_000;

/** Bytes of a file of a skill or a plugin. */
export const MAX_DISCOVERED_FILE_BYTES = 256 * 1024;

/** Characters of the name of a skill. As in Codex 0.169.0. */
export const MAX_SKILL_NAME = 64;

/** Largest file of a secret, bytes. */
export const MAX_SECRET_BYTES = 1024 * 1024;
