/** Connections of one proxy that are open or being opened. */
export const MAX_CONNECTIONS = 1024;
/** Connections to hosts that are being opened at once; others wait. */
export const MAX_DIALS = 256;
/** Names of which one proxy remembers the address that its DNS gave, or the addresses that they have. */
export const MAX_NAMES = 4096;
/** Questions that wait for an answer at once. */
export const MAX_QUESTIONS = 64;
/** Bytes of the head of an HTTP request. */
export const MAX_HEAD_BYTES = 32 * 1024;
/** Bytes of a TLS ClientHello, its record headers included. */
export const MAX_CLIENT_HELLO_BYTES = 16 * 1024;
/** Time for the head of a request, a SOCKS handshake, or a TLS ClientHello that has begun, milliseconds. */
export const MAX_HEAD_MS = 10_000;
/** Time to resolve a name, milliseconds. */
export const MAX_RESOLVE_MS = 5_000;
/** Time to open a connection to a host, milliseconds. */
export const MAX_DIAL_MS = 10_000;
/** Time after which a further address of a host is tried beside those before it, milliseconds. */
export const NEXT_ADDRESS_MS = 250;
/** How long the addresses of a name are used again, milliseconds. */
export const RESOLVED_FOR_MS = 10_000;
/** Time within which equal events are counted instead of repeated, milliseconds. */
export const EVENT_WINDOW_MS = 1_000;

/** Bytes that are read at once from a host whose answer is only passed on: at first, and at most. */
export const MIN_READ_BYTES = 16 * 1024;
export const MAX_READ_BYTES = 256 * 1024;
