/** Milliseconds that startup files have to come to an end; the figure is Codex's. */
export const CAPTURE_MS = 10_000;

/** What a shell may tell of itself, bytes; functions of completions take up to half a megabyte. */
export const MAX_STATE_BYTES = 4 * 1024 * 1024;

/** Snapshots kept for different shells, environments and sandboxes; the one that was not used for longest makes room. */
export const MAX_SNAPSHOTS = 16;

/** Milliseconds a snapshot is used for: what startup files read besides themselves is not watched. */
export const MAX_AGE_MS = 5 * 60_000;
