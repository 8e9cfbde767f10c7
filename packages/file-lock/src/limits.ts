/** Longest wait for the lock of the file that saved rules go to, in milliseconds. */
export const SAVE_LOCK_TIMEOUT_MS = 5_000;

/** Pause between two tries for that lock, in milliseconds. */
export const SAVE_LOCK_RETRY_MS = 20;

/** Age at which a lock whose owner cannot be asked (another host) counts as left behind, in milliseconds. */
export const SAVE_LOCK_STALE_MS = 30_000;

/** Symbolic links on the way to the directory of an output file. */
export const MAX_LINKS = 40;

/** Bytes of a lock file: process id and host. */
export const MAX_LOCK_BYTES = 1024;
