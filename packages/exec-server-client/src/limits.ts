/** Milliseconds for the first connection and for each further one. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Milliseconds from `initialize` to its answer; the figure is Codex's. */
export const INITIALIZE_TIMEOUT_MS = 10_000;

/** Milliseconds after a cut within which the session is resumed; the figure is Codex's. Its servers wait 80 s. */
export const RECOVERY_WINDOW_MS = 45_000;

/** Milliseconds before the second attempt to reconnect; it doubles with each attempt, and is shortened at random. */
export const FIRST_RETRY_MS = 100;

/** Longest pause between two attempts to reconnect, ms. */
export const LONGEST_RETRY_MS = 2_000;

/** A connection that lasts shorter is a quick cut, ms. */
export const QUICK_CUT_MS = 1_000;

/** Quick cuts in a row that are answered at once; then there are pauses, or a broken server would be asked for ever. */
export const MAX_QUICK_CUTS = 10;

/** Times one request is sent when its answer is lost again and again. */
export const MAX_SENDS = 16;

/** Largest message sent over a websocket, bytes: Codex 0.169.0 drops the connection at a larger frame. */
export const MAX_SENT_FRAME_BYTES = 16 * 1024 * 1024;

/** Files above it are read and written in blocks, bytes: in base64 they would not fit into one frame. */
export const MAX_WHOLE_FILE_BYTES = 11 * 1024 * 1024;

/** Bytes in one block of a file; the figure is the protocol's. */
export const FILE_BLOCK_BYTES = 1024 * 1024;

/** Events of one process that wait for an earlier one. What comes beyond it is dropped and read again. */
export const MAX_HELD_EVENTS = 1024;

/** The same for their bytes. */
export const MAX_HELD_BYTES = 1024 * 1024;

/** Answers of `process/read` taken for one gap, and their bytes. */
export const MAX_GAP_READS = 256;
export const MAX_GAP_BYTES = 64 * 1024 * 1024;

/** Times a gap is read anew when the server knows nothing of what it had announced. */
export const MAX_FRUITLESS_READS = 3;

/** Gaps that are read at once: Codex 0.169.0 stops answering for ever when more than about 128 requests wait. */
export const MAX_CONCURRENT_GAP_READS = 16;

/** Starts, file calls and the like under way at once, for the same reason. */
export const MAX_REQUESTS_IN_FLIGHT = 64;

/**
 * Bytes of messages that were received and wait for somebody who follows the output. At the bound nothing more is
 * read from the connection, for any process.
 */
export const MAX_UNDELIVERED_BYTES = 16 * 1024 * 1024;

/** The same for the number of messages. */
export const MAX_UNDELIVERED_MESSAGES = 65_536;

/**
 * Bytes in one `process/write`. Codex 0.169.0 queues 128 of them and then answers nothing on the connection until the
 * program reads: the largest write stays below that.
 */
export const MAX_WRITE_CHUNK_BYTES = 1024 * 1024;

/** Processes whose start was not answered and that have to be ended after a resume. */
export const MAX_ORPHANS = 4096;

/** Milliseconds that processes have to be ended in when the client is closed. */
export const CLOSE_DEADLINE_MS = 2_000;

/** Milliseconds a command that serves has to end by itself once its input is closed. */
export const SERVER_GRACE_MS = 2_000;

/** Bytes of a streamed HTTP body that wait to be taken. */
export const HTTP_WINDOW_BYTES = 256 * 1024;
