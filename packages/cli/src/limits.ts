/** Input that is kept for a program while its executor cannot be reached, bytes. More than that is dropped as a whole. */
export const MAX_HELD_INPUT_BYTES = 64 * 1024;

/** After this the executor counts as one that does not answer, and Ctrl-C is looked for in what is typed, milliseconds. */
export const UNANSWERED_MS = 2_000;

/** How long a program may run on, whose input is over but could not be ended, before the person is told, milliseconds. */
export const OPEN_INPUT_MS = 500;

/** How long a command that was given up waits for its executor to hear of that, milliseconds. */
export const LEAVE_GRACE_MS = 2_000;

/** What an output pipe of our own program holds and one read of it gives, bytes: at 64 KiB each byte costs more than twice as much. */
export const OWN_PIPE_BYTES = 256 * 1024;

/** What is kept of its output beside the beginning, bytes: all that may be under way, and a last read of both pipes. */
export const OWN_LOG_TAIL_BYTES = 4 * OWN_PIPE_BYTES;
