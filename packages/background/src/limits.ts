/** Bytes of the first line that each side of a new connection sends. */
export const MAX_GREETING_BYTES = 4 * 1024;

/** Milliseconds for that line; who sends none is cut off. */
export const GREETING_MS = 5_000;

/** Milliseconds that a server has from its start until it listens. */
export const START_MS = 20_000;

/** Milliseconds that another process may take to start the server before waiting for it is given up. */
export const LOCK_MS = 30_000;

/** Times that a server which is just ending is left for a new one. */
export const MAX_JOINS = 5;

/** Longest path of a unix socket, bytes: `sun_path` without its end, of the systems that allow least. */
export const MAX_SOCKET_PATH_BYTES = 103;

/** End of the log that goes into the error of a server that did not start, bytes. */
export const LOG_TAIL_BYTES = 2 * 1024;

/** Milliseconds between two checks whether the socket file is still there: what cleans temporary directories may remove it. */
export const SOCKET_CHECK_MS = 5_000;

/** Milliseconds without connections and sessions after which a server ends. */
export const IDLE_MS = 10 * 60_000;

/** Fraction of the idle time after which idleness is checked again, and the longest pause between two checks, milliseconds. */
export const IDLE_CHECKS = 10;
export const MAX_IDLE_CHECK_MS = 30_000;

/** Milliseconds without progress after which a bridge whose input has ended stops waiting for further output. */
export const DETACH_MS = 10_000;

/** Milliseconds that a server has to end its processes when it is asked to stop. */
export const STOP_MS = 30_000;
