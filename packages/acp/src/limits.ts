/** Bytes of output that a terminal keeps where its agent names no limit. */
export const OUTPUT_BYTES = 1024 * 1024;
/** Bytes of output that an agent may ask a terminal to keep. */
export const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Terminals that are not released, over all sessions. */
export const MAX_TERMINALS = 64;
