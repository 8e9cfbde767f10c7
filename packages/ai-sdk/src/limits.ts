/** Bytes of output, from its end, in a preliminary result. */
export const TAIL_BYTES = 4096;
/** Shortest interval between two preliminary results, milliseconds. */
export const TAIL_INTERVAL_MS = 100;
/** Bytes of stdout, and of stderr, returned by `run` of a sandbox. */
export const RUN_OUTPUT_BYTES = 10 * 1024 * 1024;

/** Ranges of missing output that the error at the end of a stream names. */
export const MAX_NAMED_GAPS = 1000;
