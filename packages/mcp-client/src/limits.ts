/** Bytes of one message to or from an MCP server on stdio. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Characters kept from the end of a server's stderr, to explain why it ended. */
export const STDERR_TAIL_LENGTH = 8 * 1024;

/** Characters of a server's stderr that an error quotes. */
export const QUOTED_STDERR_CHARACTERS = 500;

/** Milliseconds a server has to exit after its stdin was closed, before it is terminated. */
export const CLOSE_GRACE_MS = 2_000;

/** Milliseconds between terminating a server and killing it. */
export const TERMINATE_GRACE_MS = 2_000;

/** Milliseconds to read the remaining output of a server that has exited. */
export const DRAIN_MS = 1_000;

/** Bytes of a server's unread output held in memory; at the limit the server is paused. */
export const OUTPUT_TAIL_BYTES = 1024 * 1024;

/** Milliseconds for one HTTP exchange of the handshake; others have no limit here, because responses may be streams. */
export const HTTP_HANDSHAKE_MS = 30_000;

/** Servers of one configuration. */
export const MAX_SERVERS = 64;

/** Seconds of a configured timeout. */
export const MAX_SECONDS = 1_000_000;

/** Default time limit for starting a server and listing its tools, milliseconds. As in Codex 0.169.0. */
export const DEFAULT_STARTUP_MS = 30_000;

/** Default time limit for a tool call, milliseconds. */
export const DEFAULT_TOOL_MS = 120_000;

/** Tools of one server; further ones are left out. */
export const MAX_TOOLS = 128;

/** Bytes of a tool's name as shown to a model. As in Codex. */
export const MAX_NAME_BYTES = 64;

/** Bytes of the JSON schema of one tool's arguments, and levels of arrays and objects in it. */
export const MAX_SCHEMA_BYTES = 64 * 1024;
export const MAX_SCHEMA_DEPTH = 64;

/** Bytes of a tool's description. */
export const MAX_DESCRIPTION_BYTES = 16 * 1024;

/** Bytes of text, and of other content, in one result. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;

/** Bytes of an error, a reason or a progress message. */
export const MAX_SENTENCE_BYTES = 2_000;

/** Debounce for listing tools again after a server reports a change, milliseconds. */
export const RELIST_MS = 100;

/** Time limit for ending an HTTP session at its server, milliseconds. */
export const END_SESSION_MS = 2_000;

/** Milliseconds to wait for servers that are not required before the model runs without them. As in Codex 0.169.0. */
export const STARTUP_GRACE_MS = 1_000;

/** Warnings about servers returned by one call. */
export const MAX_WARNINGS = 20;

/** Tools named in a warning about those that are left out for one reason. */
export const MAX_NAMED_TOOLS = 3;

/** Bytes of the file with the credentials of logins. */
export const MAX_CREDENTIALS_BYTES = 1024 * 1024;

/** Milliseconds to wait for another process that refreshes the same login. */
export const REFRESH_LOCK_MS = 60_000;

/** Milliseconds before a token expires in which it is refreshed. */
export const REFRESH_EARLY_MS = 30_000;

/** Milliseconds of one request to an authorization server. */
export const OAUTH_REQUEST_MS = 30_000;

/** Milliseconds a person has to log in. As in Codex. */
export const LOGIN_MS = 300_000;

/** Characters of a callback URL. */
export const MAX_CALLBACK_LENGTH = 16 * 1024;

/** Milliseconds to ask a server whether it wants a login. */
export const DISCOVERY_MS = 5_000;

/** Bytes of a text in a question of a server to the person. */
export const MAX_QUESTION_BYTES = 8 * 1024;
