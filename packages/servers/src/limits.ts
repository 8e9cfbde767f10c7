/** Capacity of an output pipe of a local program, size of one read and of one piece of live output, in bytes: JavaScript works per read. */
export const OUTPUT_PIPE_BYTES = 256 * 1024;

/** Retained end of its output, in bytes: everything that may be in flight, a last read, and the rest of one that was acknowledged in part. */
export const OUTPUT_TAIL_BYTES = 4 * OUTPUT_PIPE_BYTES;

/** From an error at the start of a rendezvous to the end of its process, whatever is still open, milliseconds. */
export const MAX_EXIT_MS = 500;
