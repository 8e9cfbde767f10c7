/** Input that is kept for a program while its executor cannot be reached, bytes. More than that is dropped as a whole. */
export const MAX_HELD_INPUT_BYTES = 64 * 1024;

/** After this the executor counts as one that does not answer, and Ctrl-C is looked for in what is typed, milliseconds. */
export const UNANSWERED_MS = 2_000;

/** How long a program may run on, whose input is over but could not be ended, before the person is told, milliseconds. */
export const OPEN_INPUT_MS = 500;

/** How long a command that was given up waits for its executor to hear of that, milliseconds. */
export const LEAVE_GRACE_MS = 2_000;

/** Reads of a pipe of our own program, 64 KiB each, before signals and typed input have a turn: as many as libuv makes. */
export const FULL_READS_PER_TURN = 32;
