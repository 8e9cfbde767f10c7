/** Timeout for opening a tunnel, milliseconds. */
export const MAX_CONNECT_MS = 30_000;
