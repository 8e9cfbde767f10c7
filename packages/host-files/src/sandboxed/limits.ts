/** Helpers of one connection at once: each is a process of about 40 MB. */
export const MAX_HELPERS = 4;

/** Milliseconds after its last call in which a helper waits for another one. */
export const HELPER_IDLE_MS = 30_000;

/**
 * The same for a helper whose sandbox keeps names free: the directories that stand for them are seen by every program. Long
 * enough for the next file of a patch.
 */
export const HOLDING_HELPER_IDLE_MS = 200;

/** Milliseconds in which a helper that is not needed any more ends by itself; it removes what it had not finished. */
export const HELPER_END_MS = 1_000;

/** Header of a frame, bytes: the entries of the largest directory are in one. */
export const MAX_HEADER_BYTES = 256 * 1024 * 1024;

/** Characters of what a helper says on stderr that an error tells. */
export const MAX_COMPLAINT = 2_048;
