/** Milliseconds to connect when nothing else is configured; the figure is Codex's. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Milliseconds that the remote side has to answer the handshake; the figure is Codex's. */
export const INITIALIZE_TIMEOUT_MS = 10_000;

/** Pause before an environment that failed is tried again, milliseconds; doubles with each failure, minus random jitter. */
export const FIRST_RETRY_MS = 250;

/** Longest such pause, milliseconds. */
export const LONGEST_RETRY_MS = 5_000;

/** Characters of a reason; a longer one is cut. */
export const MAX_REASON_LENGTH = 500;

/** Milliseconds that a program has to end once its stdin has ended, and then between SIGTERM and SIGKILL. */
export const END_GRACE_MS = 5_000;
export const KILL_GRACE_MS = 2_000;

/** End of a program's stderr that goes into the error when it ends, bytes. */
export const LAST_WORDS_BYTES = 2 * 1024;

/** Characters of a line of a program's stderr in the log; the rest of it is cut. */
export const MAX_LOGGED_LINE_LENGTH = 1024;

/** Milliseconds for what a program left in its pipe when it exited. */
export const REST_OF_STDOUT_MS = 500;

/** Milliseconds between the end of a program's stdout and its exit status. */
export const EXIT_AFTER_STDOUT_MS = 1_000;

/** Milliseconds that ssh has to connect and to log in. */
export const SSH_CONNECT_MS = 15_000;

/** Milliseconds for a person to answer what ssh asks, and to log in. */
export const PROMPT_MS = 180_000;

/** Milliseconds for sending a server to a host, and for its installation. */
export const INSTALL_MS = 600_000;

/** Pause before ssh is tried again after a failure, milliseconds; doubles with each, minus random jitter; and the longest one. */
export const FIRST_SSH_RETRY_MS = 500;
export const LONGEST_SSH_RETRY_MS = 10_000;

/** Bytes that the startup files of a shell may print before its command runs. */
export const MAX_NOISE_BYTES = 256 * 1024;

/** Bytes of one line that the remote side says before the server speaks. */
export const MAX_NEWS_BYTES = 8 * 1024;

/**
 * Milliseconds within which a session over ssh is resumed after its connection was lost: less than a background server keeps
 * processes without one.
 */
export const SSH_RECOVERY_MS = 9 * 60_000;

/** Longest file of trusted executors, characters. */
export const MAX_KNOWN_EXECUTORS_BYTES = 1024 * 1024;
