/** Default number of bytes of output kept for a terminal. */
export const OUTPUT_BYTES = 1024 * 1024;
/** Highest value of `outputByteLimit`, bytes. */
export const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Terminals that are not released yet, over all sessions. */
export const MAX_TERMINALS = 64;
