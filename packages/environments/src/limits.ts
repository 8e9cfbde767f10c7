/** Milliseconds to connect when nothing else is configured; the figure is Codex's. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Milliseconds that the far side has to answer the handshake; the figure is Codex's. */
export const INITIALIZE_TIMEOUT_MS = 10_000;

/** Pause before an environment that failed is tried again, milliseconds; doubles with each failure, minus random jitter. */
export const FIRST_RETRY_MS = 250;

/** Longest such pause, milliseconds. */
export const LONGEST_RETRY_MS = 5_000;

/** Characters of a reason; a longer one is cut. */
export const MAX_REASON_LENGTH = 500;
