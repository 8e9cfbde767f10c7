/** Time in which a proxy has to open a tunnel, milliseconds. */
export const MAX_CONNECT_MS = 30_000;
