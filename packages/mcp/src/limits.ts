/** Default time limit of a call, after which its session continues without it, milliseconds: below the time limits of most clients. */
export const DEFAULT_MAX_HOLD_MS = 50_000;
/** Bounds of the configurable time limit, milliseconds. */
export const MIN_HOLD_MS = 250;
export const MAX_HOLD_MS = 300_000;
/** How long `tools/list` waits for an executor to be attached before it lists the known tools, milliseconds. */
export const ATTACH_WAIT_MS = 3_000;
/** Calls of one client that wait for its answer to a question; further ones are refused. */
export const MAX_PARKED_CALLS = 64;
/** Time for an answer to a question, milliseconds; then the call is declined. */
export const DECISION_MS = 600_000;
/** Shortest interval between two progress notifications, and the longest while there is no output, milliseconds. */
export const PROGRESS_MS = 250;
export const SILENCE_MS = 10_000;
/** Characters of the last line of output in a progress notification. */
export const PROGRESS_LINE_LENGTH = 200;
/** Notes about cancelled calls that wait for the next result of a client; the oldest is dropped. */
export const MAX_NOTES = 16;
/** Characters of a command in a question. */
export const QUESTION_COMMAND_LENGTH = 4_000;
/** Bytes of one HTTP request body. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** HTTP requests of all clients at once, open streams included; further ones get 503. */
export const MAX_HTTP_REQUESTS = 1_024;
/**
 * MCP sessions of one HTTP client; for one more, the longest unused one without running programs ends, or with some if all have
 * some, and if those are all in use it gets 503.
 */
export const MAX_HTTP_SESSIONS = 64;
/** When the server is asked to end: for ending the programs and answering the calls in progress, milliseconds. */
export const DRAIN_MS = 10_000;
/** While it waits for programs to end by themselves: between two looks, milliseconds. */
export const IDLE_POLL_MS = 200;
/** After the end of the MCP sessions: for writing the last HTTP responses to clients that read them, milliseconds. */
export const LAST_RESPONSES_MS = 1_000;
/** For finding out whether a client has running programs, milliseconds. */
export const BUSY_WAIT_MS = 1_000;
/** Time after which an MCP session without a request or an open stream ends, milliseconds. */
export const SESSION_IDLE_MS = 30 * 60_000;
/** Bytes of the output of a session as a resource; of a longer one the end is kept. */
export const MAX_RESOURCE_BYTES = 1024 * 1024;
/** Characters of a recording, after which it ends. */
export const MAX_RECORDING_LENGTH = 8 * 1024 * 1024;
/** Shortest interval between two notifications about one session, milliseconds. */
export const UPDATE_MS = 1_000;
/** How long one read waits for output of a watched session, milliseconds; the next one follows. */
export const WATCH_WAIT_MS = 60_000;
/** Watched sessions of one client; further ones are not. Each occupies one call of the executor. */
export const MAX_WATCHED_SESSIONS = 16;
/** The beginning of stdin that is read before the SDK is loaded, bytes; first requests have some hundred. */
export const MAX_BEGINNING_BYTES = 64 * 1024;
/** Subscriptions of one MCP session. */
export const MAX_SUBSCRIPTIONS = 64;
/** Tasks of one client, and its calls in progress that may become one; a call beyond them is held like those of clients without tasks. */
export const MAX_TASKS = 64;
/** How long a task can be polled, counted from its creation, milliseconds. Longer than any call takes. */
export const TASK_TTL_MS = 60 * 60_000;
/** Suggested interval of polling a task, milliseconds. */
export const TASK_POLL_MS = 1_000;
