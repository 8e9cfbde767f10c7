/** Milliseconds that startup files may run; the figure is Codex's. */
export const CAPTURE_MS = 10_000;

/** Largest report of a shell about its state, bytes; completion functions take up to half a megabyte. */
export const MAX_STATE_BYTES = 4 * 1024 * 1024;

/** Snapshots kept for different shells, environments and sandboxes; the least recently used one is evicted. */
export const MAX_SNAPSHOTS = 16;

/** Milliseconds that a snapshot is valid: other files that startup files read are not watched. */
export const MAX_AGE_MS = 5 * 60_000;
