/** Bytes of the first line that each side of a new connection sends. */
export const MAX_GREETING_BYTES = 4 * 1024;

/** Milliseconds to wait for that line before the peer is disconnected. */
export const GREETING_MS = 5_000;

/** Milliseconds from the start of a server until it must listen. */
export const START_MS = 20_000;

/** Milliseconds to wait for another process that is starting the server. */
export const LOCK_MS = 30_000;

/** Attempts to join, each after a server that was shutting down. */
export const MAX_JOINS = 5;

/** Longest path of a unix socket, bytes: the smallest `sun_path` of the supported systems, without its NUL. */
export const MAX_SOCKET_PATH_BYTES = 103;

/** Bytes of the log's end that are part of the error when a server did not start. */
export const LOG_TAIL_BYTES = 2 * 1024;

/** Milliseconds between two checks that the socket file exists: cleaners of temporary directories may remove it. */
export const SOCKET_CHECK_MS = 5_000;

/** Milliseconds without connections and sessions after which a server ends. */
export const IDLE_MS = 10 * 60_000;

/** Checks per idle time, and the longest pause between two checks, milliseconds. */
export const IDLE_CHECKS = 10;
export const MAX_IDLE_CHECK_MS = 30_000;

/** Milliseconds without progress after which a bridge whose input has ended stops waiting for further output. */
export const DETACH_MS = 10_000;

/** Milliseconds that a server has to end its processes when it is asked to stop. */
export const STOP_MS = 30_000;

/** Days after which the files of a server that is gone are removed when another one is started. */
export const OLD_FILES_DAYS = 7;
