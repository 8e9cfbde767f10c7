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

/** Milliseconds to read the rest of the output of a server that has ended, which says how. */
export const LAST_WORDS_MS = 1_000;

/** Bytes of a server's output in memory; while more is unread the server is paused. */
export const OUTPUT_TAIL_BYTES = 1024 * 1024;

/** Milliseconds for one HTTP exchange of the handshake; others have no limit of their own, as answers may be streams. */
export const HTTP_HANDSHAKE_MS = 30_000;

/** Servers of one configuration. */
export const MAX_SERVERS = 64;

/** Seconds of a configured timeout. */
export const MAX_SECONDS = 1_000_000;

/** Milliseconds that a server has until its tools are listed, unless configured. As Codex 0.169.0. */
export const DEFAULT_STARTUP_MS = 30_000;

/** Milliseconds for a call of a tool, unless configured. */
export const DEFAULT_TOOL_MS = 120_000;

/** Tools of one server; further ones are left out. */
export const MAX_TOOLS = 128;

/** Bytes of a tool's name as a model has it. As Codex. */
export const MAX_NAME_BYTES = 64;

/** Bytes of the JSON schema of one tool's arguments, and levels of arrays and objects in it. */
export const MAX_SCHEMA_BYTES = 64 * 1024;
export const MAX_SCHEMA_DEPTH = 64;

/** Bytes of a tool's description. */
export const MAX_DESCRIPTION_BYTES = 16 * 1024;

/** Bytes of text, and of other content, in one result. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;

/** Bytes of an error, a reason or a message of progress. */
export const MAX_SENTENCE_BYTES = 2_000;

/** Milliseconds after a server says that its tools have changed until they are listed anew; further changes meanwhile count as one. */
export const RELIST_MS = 100;

/** Milliseconds that the server of a session has to take note of its end. */
export const END_SESSION_MS = 2_000;

/** Milliseconds that servers which are not required are waited for before a model is asked without them. As Codex 0.169.0. */
export const STARTUP_GRACE_MS = 1_000;

/** Warnings about servers that are given at once. */
export const MAX_WARNINGS = 20;
