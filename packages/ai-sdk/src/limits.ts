/** Bytes of the end of the output that a call under way shows. */
export const TAIL_BYTES = 4096;
/** Milliseconds between two of those. */
export const TAIL_INTERVAL_MS = 100;
/** Bytes of stdout, and of stderr, that `run` of a sandbox returns. */
export const RUN_OUTPUT_BYTES = 10 * 1024 * 1024;
