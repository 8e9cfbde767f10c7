/** Bytes of the end of the output that a call under way shows. */
export const TAIL_BYTES = 4096;
/** Milliseconds between two of those. */
export const TAIL_INTERVAL_MS = 100;
/** Questions that are remembered until they are answered; the oldest is forgotten, and its approval counts for nothing. */
export const REMEMBERED_QUESTIONS = 1000;
/** Running sessions that are remembered for `dispose`; the oldest is forgotten. */
export const REMEMBERED_SESSIONS = 1000;
