/** Capacity of an output pipe of a local program and size of one read, in bytes: JavaScript works per read. */
export const OWN_PIPE_BYTES = 256 * 1024;

/** Retained end of its output, in bytes: everything that may be in flight, and a last read of both pipes. */
export const OWN_LOG_TAIL_BYTES = 4 * OWN_PIPE_BYTES;
