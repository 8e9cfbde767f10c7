/** Default time limit of a call, after which its session continues without it, milliseconds: below the time limits of most clients. */
export const DEFAULT_MAX_HOLD_MS = 50_000;
/** Bounds of the configurable time limit, milliseconds. */
export const MIN_HOLD_MS = 250;
export const MAX_HOLD_MS = 300_000;
/** How long `tools/list` waits for an executor to be attached before it lists the known tools, milliseconds. */
export const ATTACH_WAIT_MS = 3_000;
/** Calls of one client that wait for its answer to a question; further ones are declined. */
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
