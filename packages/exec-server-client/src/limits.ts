/** Milliseconds to connect, at first and on each reconnect. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Milliseconds from `initialize` to its response; the figure is Codex's. */
export const INITIALIZE_TIMEOUT_MS = 10_000;

/** Milliseconds between two pings of the server, and until the connection counts as lost without a sign of life. */
export const LIVENESS_MS = 15_000;

/** Milliseconds after a disconnect within which the session can be resumed; the figure is Codex's. Its servers wait 80 s. */
export const RECOVERY_WINDOW_MS = 45_000;

/**
 * Milliseconds that a start waits for the connection; then nothing was started. Below the shortest time after which an orchestrator gives
 * up a call, as it would not know that.
 */
export const START_WAIT_MS = 20_000;

/** It waits in equal parts: after a jump of the clock, or when this process was stopped, an answer that is already there is read. */
export const START_WAIT_PARTS = 4;

/**
 * How long a sent start without an answer may hold back the output of its process, milliseconds. Only a server that sends more than
 * `MAX_UNDELIVERED_BYTES` before the answer gets there: nothing more is read from it while that much is held back.
 */
export const MAX_START_HOLD_MS = 5000;

/** Shortest pause between two attempts to reconnect, milliseconds, minus random jitter; the figure is Codex's. */
export const FIRST_RETRY_MS = 100;

/**
 * The pause as a share of the outage so far: late attempts come no later than this share of its duration. Meanwhile a server of
 * Codex 0.169.0 evicts output.
 */
export const RETRY_SHARE = 0.1;

/** Longest pause between two attempts to reconnect, milliseconds. */
export const LONGEST_RETRY_MS = 2_000;

/** The end of a connection younger than this is a quick disconnect, milliseconds. */
export const QUICK_DISCONNECT_MS = 1_000;

/** Consecutive quick disconnects after which reconnecting pauses, so that a broken server is not flooded. */
export const MAX_QUICK_DISCONNECTS = 10;

/** Times one request is sent when its response is lost repeatedly. */
export const MAX_SENDS = 16;

/** Largest message sent over a websocket, bytes: Codex 0.169.0 drops the connection at a larger frame. */
export const MAX_SENT_FRAME_BYTES = 16 * 1024 * 1024;

/** Files above it are read and written in blocks, bytes: in base64 they would not fit into one frame. */
export const MAX_WHOLE_FILE_BYTES = 11 * 1024 * 1024;

/** Bytes in one block of a file; the figure is the protocol's. */
export const FILE_BLOCK_BYTES = 1024 * 1024;

/** Events of one process that wait for an earlier one; further events are dropped and read again. */
export const MAX_HELD_EVENTS = 1024;

/** The same for their bytes. */
export const MAX_HELD_BYTES = 1024 * 1024;

/**
 * Most bytes in one chunk of Codex 0.169.0, as measured: on pipes, and on a terminal. It does not report the size of evicted chunks: they
 * count as those that are read after them usually have, and as this where nothing was received.
 */
export const PEER_PIPE_CHUNK_BYTES = 8192;
export const PEER_TERMINAL_CHUNK_BYTES = 4095;

/** Results of `process/read` collected for one gap, and their bytes. */
export const MAX_GAP_READS = 256;
export const MAX_GAP_BYTES = 64 * 1024 * 1024;

/** Times a gap is read again when the server does not return an event that it had announced. */
export const MAX_FRUITLESS_READS = 3;

/** Gaps that are read concurrently: Codex 0.169.0 permanently stops responding when more than about 128 requests wait. */
export const MAX_CONCURRENT_GAP_READS = 16;

/** Other concurrent requests (starts, file calls), for the same reason. */
export const MAX_REQUESTS_IN_FLIGHT = 64;

/**
 * Bytes of received messages that wait for a follower of the output. At the limit nothing more is read from the
 * connection, for any process.
 */
export const MAX_UNDELIVERED_BYTES = 16 * 1024 * 1024;

/** The same for the number of messages. */
export const MAX_UNDELIVERED_MESSAGES = 65_536;

/**
 * Bytes in one `process/write`. Codex 0.169.0 queues 128 of them and then sends no response on the connection until the
 * program reads: the largest write stays below that.
 */
export const MAX_WRITE_CHUNK_BYTES = 1024 * 1024;

/** Processes of unanswered starts, which have to be terminated after a resume. */
export const MAX_ORPHANS = 4096;

/** Milliseconds to terminate the processes when the client is closed. */
export const CLOSE_DEADLINE_MS = 2_000;

/** Milliseconds that a server command has to exit once its input is closed. */
export const SERVER_GRACE_MS = 2_000;

/**
 * Connections for HTTP requests that a server can only cancel with their connection, as Codex 0.169.0; beyond them such requests
 * share the main one.
 */
export const MAX_REQUEST_CONNECTIONS = 64;

/** How many of them are kept for further requests. */
export const MAX_IDLE_REQUEST_CONNECTIONS = 4;

/** Unread bytes of a streamed HTTP body; beyond them the connection waits for the reader. */
export const HTTP_WINDOW_BYTES = 256 * 1024;

/** Hosts and ports that answers have allowed to the processes of one backend. */
export const MAX_SESSION_HOSTS = 1_024;
