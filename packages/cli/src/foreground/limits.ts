/** Input buffered for a program while its executor cannot be reached, in bytes. Input beyond it is dropped as a whole. */
export const MAX_HELD_INPUT_BYTES = 64 * 1024;

/** Milliseconds after which an executor counts as unresponsive, and Ctrl-C in typed input is handled by this command. */
export const UNANSWERED_MS = 2_000;

/** Milliseconds that a program may keep running after its input could not be closed before the user is notified. */
export const OPEN_INPUT_MS = 500;

/** Milliseconds that an abandoned command waits for its executor to acknowledge that. */
export const LEAVE_GRACE_MS = 2_000;
