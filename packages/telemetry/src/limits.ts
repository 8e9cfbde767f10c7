/** Longest text of one field of a log line, UTF-16 units; the rest is cut. */
export const MAX_LOG_FIELD_LENGTH = 1024;

/** Bytes of log lines queued for a slow reader or disk; further lines are dropped, and their number is logged. */
export const MAX_WAITING_LOG_BYTES = 1024 * 1024;

/** Size at which a log file becomes `FILE.1` and a new one is begun, bytes. */
export const MAX_LOG_FILE_BYTES = 64 * 1024 * 1024;

/** Milliseconds that a log has to write its queued lines when it is closed. */
export const LOG_CLOSE_MS = 500;

/** Milliseconds after which a pipe that was full is tried again. */
export const PIPE_RETRY_MS = 50;

/** Longest `tracestate` that is passed on, characters; W3C asks for 512 at least. */
export const MAX_TRACE_STATE_LENGTH = 512;
