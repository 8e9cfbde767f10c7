/** Helpers of one connection at a time; each is a process of about 40 MB. */
export const MAX_HELPERS = 4;

/** Milliseconds that an idle helper stays alive after its last call. */
export const HELPER_IDLE_MS = 30_000;

/**
 * The same for a helper whose sandbox reserves missing paths: the placeholder directories are visible to every program, so
 * it ends soon. Long enough for the next file of a patch.
 */
export const RESERVING_HELPER_IDLE_MS = 200;

/** Milliseconds for a helper to undo unfinished calls and exit before it is killed. */
export const HELPER_END_MS = 1_000;

/** Header of a frame, bytes: the entries of the largest directory are in one. */
export const MAX_HEADER_BYTES = 256 * 1024 * 1024;

/** Characters of a helper's stderr that are kept for error messages. */
export const MAX_STDERR_CHARS = 2_048;
