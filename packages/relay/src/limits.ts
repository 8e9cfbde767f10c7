/** Largest relay frame of the Noise relay, bytes: one websocket message. Codex closes the socket at a larger one. */
export const MAX_FRAME_BYTES = 256 * 1024;

/** Longest stream id, bytes of UTF-8. Codex uses UUIDs of 36 bytes. */
export const MAX_STREAM_ID_BYTES = 512;

/** Maximum plaintext of one Noise record, bytes. */
export const MAX_RECORD_BYTES = 61_440;

/** How far ahead of the next expected record a record may arrive and be buffered, in records. */
export const MAX_RECORDS_AHEAD = 64;

/** Buffered out-of-order records of one stream, bytes. */
export const MAX_HELD_RECORD_BYTES = 1_000_000;

/** Longest message, bytes of JSON. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Longest authorization that a harness presents to an executor, bytes of UTF-8. */
export const MAX_AUTHORIZATION_BYTES = 4096;

/** Milliseconds from a dial to the open websocket. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Milliseconds between two websocket pings of an executor without streams. */
export const PING_MS = 15_000;

/** The same for a socket with streams: two half-open sockets in a row are noticed well within `RECOVERY_MS`. */
export const STREAM_PING_MS = 8_000;

/** Milliseconds without any received data after a ping until a socket counts as lost. */
export const PONG_TIMEOUT_MS = 10_000;

/** Unsent bytes in a socket at which its streams pause sending. */
export const SOCKET_HIGH_WATER_BYTES = 256 * 1024;

/** Longest reason of an HTTP error response that an error quotes, bytes. */
export const MAX_REFUSAL_BYTES = 512;

/** Longest `Retry-After` that is respected, milliseconds. */
export const MAX_RETRY_AFTER_MS = 300_000;

/** Unacknowledged records: no more than the peer buffers if one of them is lost. */
export const MAX_IN_FLIGHT_RECORDS = 48;

/** Flow-control window of a stream: bytes that the peer may send beyond what was consumed. */
export const STREAM_WINDOW_BYTES = 768 * 1024;

/** An acknowledgement is sent immediately after this many records or bytes, otherwise after this many milliseconds. */
export const ACK_RECORDS = 24;
export const ACK_BYTES = 192 * 1024;
export const ACK_DELAY_MS = 100;

/** Milliseconds without an acknowledgement after which a record is resent; doubles up to the maximum. */
export const RESEND_MS = 500;
export const LONGEST_RESEND_MS = 2_000;

/** Milliseconds after resending a record in which reports that it is missing are ignored. */
export const RESEND_PAUSE_MS = 50;

/** Milliseconds without progress after which the socket of a stream counts as broken. */
export const STALL_MS = 10_000;

/** Milliseconds that buffered records wait for a missing one until the stream counts as broken. */
export const GAP_TIMEOUT_MS = 10_000;

/** Longest control message, bytes. */
export const MAX_CONTROL_BYTES = 2_048;

/** Milliseconds for which an executor retains a stream without a socket. */
export const DETACHED_MS = 60_000;

/** Milliseconds for which a harness tries to resume its stream. */
export const RECOVERY_MS = 45_000;

/** Unread messages of one stream whose peer has no flow control, bytes. */
export const MAX_UNTAKEN_BYTES = 64 * 1024 * 1024;

/** Maximum number of streams on one executor socket. */
export const MAX_STREAMS = 128;

/** Maximum number of handshakes waiting for the registry. */
export const MAX_VALIDATIONS = 32;

/** Failed handshakes after which new ones are refused, and for how many milliseconds; open streams are not affected. */
export const MAX_FAILED_HANDSHAKES = 8;
export const HANDSHAKE_PAUSE_MS = 10_000;

/** Time limit for the executor's handshake response, milliseconds. */
export const HANDSHAKE_TIMEOUT_MS = 15_000;

/** Time limit for closing a socket, milliseconds. */
export const SOCKET_CLOSE_MS = 1_000;

/** Time limit for a registry's response, milliseconds. */
export const REGISTRY_TIMEOUT_MS = 10_000;

/** Longest response of a registry, bytes. */
export const MAX_REGISTRY_BYTES = 64 * 1024;

/** Pause after a failed registration or dial of an executor, milliseconds: first and maximum. */
export const FIRST_RETRY_MS = 1_000;
export const LONGEST_RETRY_MS = 30_000;

/** The same for a harness that resumes its stream. */
export const FIRST_RESUME_MS = 100;
export const LONGEST_RESUME_MS = 4_000;

/** Time limits for a peer to accept acknowledgements, milliseconds: in general, and after a first message that did not accept them. */
export const OFFER_TIMEOUT_MS = 5_000;
export const LATE_STATE_MS = 2_000;

/** Longest credential on stdin, bytes. */
export const MAX_CREDENTIAL_BYTES = 64 * 1024;

/** Time limit for the first credential on stdin, milliseconds. */
export const FIRST_CREDENTIAL_MS = 30_000;

/** Largest frame of the legacy relay, bytes: a whole message and its header. */
export const MAX_CLEAR_FRAME_BYTES = MAX_MESSAGE_BYTES + 4096;

/** Longest time over which a rendezvous can spread the return of its executors, milliseconds: a harness waits 45 s. */
export const MAX_SPREAD_MS = 30_000;

/** Shortest time over which executors return, milliseconds, however few a rendezvous has. */
export const SHORTEST_SPREAD_MS = 50;

/** Longest list of executors from a registry, bytes. */
export const MAX_EXECUTOR_LIST_BYTES = 16 * 1024 * 1024;
