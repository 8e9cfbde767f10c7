/** Default time limit for connecting, milliseconds. As in Codex. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Default time limit for the handshake response, milliseconds. As in Codex. */
export const INITIALIZE_TIMEOUT_MS = 10_000;

/** Delay before connecting again after a failure, milliseconds; doubles with each failure, minus random jitter. */
export const FIRST_RETRY_MS = 250;

/** Longest such delay, milliseconds. */
export const LONGEST_RETRY_MS = 5_000;

/** Characters of a reason; longer ones are truncated. */
export const MAX_REASON_LENGTH = 500;

/** Milliseconds a program has to exit after its stdin is closed, and then between SIGTERM and SIGKILL. */
export const END_GRACE_MS = 5_000;
export const KILL_GRACE_MS = 2_000;

/** Characters from the end of a program's stderr quoted in the error when it exits. */
export const STDERR_TAIL_LENGTH = 2 * 1024;

/** Characters of a logged stderr line; longer ones are truncated. */
export const MAX_LOGGED_LINE_LENGTH = 1024;

/** Milliseconds to read the output left in the pipe after a program has exited. */
export const STDOUT_DRAIN_MS = 500;

/** Milliseconds to read the stderr left in the pipe after a program has exited; another process may keep it open. */
export const STDERR_DRAIN_MS = 500;

/** Milliseconds between the end of a program's stdout and its exit status. */
export const EXIT_AFTER_STDOUT_MS = 1_000;

/** Time limit for ssh to connect and log in, milliseconds. */
export const SSH_CONNECT_MS = 15_000;

/** Time limit for ssh to connect and log in if it may prompt, milliseconds. */
export const PROMPT_MS = 180_000;

/** Time limit for uploading and installing a server, milliseconds. */
export const INSTALL_MS = 600_000;

/** First and longest delay before ssh is started again after a failure, milliseconds; doubles with each, minus random jitter. */
export const FIRST_SSH_RETRY_MS = 500;
export const LONGEST_SSH_RETRY_MS = 10_000;

/** Bytes that the startup files of a shell may print before its command runs. */
export const MAX_STARTUP_OUTPUT_BYTES = 256 * 1024;

/** Bytes of one status line of the remote script, sent before the server starts. */
export const MAX_STATUS_BYTES = 8 * 1024;

/**
 * Milliseconds within which a session over ssh is resumed after its connection was lost: less than a background server keeps
 * processes without one.
 */
export const SSH_RECOVERY_MS = 9 * 60_000;

/** Size limit of the file of trusted executors, characters. */
export const MAX_KNOWN_EXECUTORS_BYTES = 1024 * 1024;

/** Longest file with a bearer token, bytes. */
export const MAX_TOKEN_FILE_BYTES = 64 * 1024;

/** Milliseconds that an attempt to connect, when it is given up, has for ending a program or a connection of its own. */
export const ABORTED_OPEN_MS = 2_000;
