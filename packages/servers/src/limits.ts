/** Capacity of the output pipe of a local program that floods it, bytes: the most that an ordinary user may have. */
export const OUTPUT_PIPE_BYTES = 1024 * 1024;

/** Largest read of that pipe, and largest piece of live output, bytes: more than half of the pipe; see docs/performance.md. */
export const OUTPUT_READ_BYTES = 768 * 1024;

/** Retained end of its output, bytes: everything that may be in flight, a last read, and the rest of one that was acknowledged in part. */
export const OUTPUT_TAIL_BYTES = 4 * OUTPUT_READ_BYTES;

/** What the kernel buffers of the messages of an executor on stdio, bytes, where stdout is a socket: a flood wakes it less often. */
export const STDOUT_BUFFER_BYTES = 512 * 1024;

/** From an error at the start of a rendezvous to the end of its process, whatever is still open, milliseconds. */
export const MAX_EXIT_MS = 500;

/** Largest file of a token, a certificate with its chain, or a key, bytes. */
export const MAX_CREDENTIAL_BYTES = 1024 * 1024;
