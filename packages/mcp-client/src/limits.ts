/** Bytes of one message of an MCP server on stdio, and of one to it. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Bytes from the end of a server's stderr that are kept, for the reason when it ends. */
export const STDERR_TAIL_BYTES = 8 * 1024;

/** Characters of a server's stderr that an error quotes. */
export const QUOTED_STDERR_CHARACTERS = 500;

/** Milliseconds that a server has to end after its stdin was closed, before it is terminated. */
export const CLOSE_GRACE_MS = 2_000;

/** Milliseconds between asking a server to end and killing it. */
export const TERMINATE_GRACE_MS = 2_000;

/** Bytes of a server's output in memory; while more is unread the server is paused. */
export const OUTPUT_TAIL_BYTES = 1024 * 1024;

/** Milliseconds for one HTTP exchange of the handshake; others have no limit of their own, as answers may be streams. */
export const HTTP_HANDSHAKE_MS = 30_000;
