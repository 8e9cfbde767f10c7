/** Largest relay frame of the Noise relay, bytes: one websocket message. Codex closes the socket at a larger one. */
export const MAX_FRAME_BYTES = 256 * 1024;

/** Longest stream id, bytes of UTF-8. Codex uses UUIDs of 36 bytes. */
export const MAX_STREAM_ID_BYTES = 512;

/** Most plaintext of one Noise record, bytes. */
export const MAX_RECORD_BYTES = 61_440;

/** How far ahead of the next record one may come that is kept until its turn, in records. */
export const MAX_RECORDS_AHEAD = 64;

/** Bytes of records that are kept until their turn, of one stream. */
export const MAX_HELD_RECORD_BYTES = 1_000_000;

/** Longest message, bytes of JSON. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Longest authorization that a harness shows an executor, bytes of UTF-8. */
export const MAX_AUTHORIZATION_BYTES = 4096;

/** Milliseconds from a dial to the open websocket. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Milliseconds between two websocket pings. */
export const PING_MS = 30_000;

/** Milliseconds without a sign of life after a ping at which a socket counts as lost. */
export const PONG_TIMEOUT_MS = 60_000;

/** Bytes that wait in a socket at which streams stop adding to it. */
export const SOCKET_HIGH_WATER_BYTES = 256 * 1024;

/** Longest reason of an HTTP refusal that goes into an error, bytes. */
export const MAX_REFUSAL_BYTES = 512;

/** Longest pause that a `Retry-After` header is followed for, milliseconds. */
export const MAX_RETRY_AFTER_MS = 300_000;

/** Records of ours that may be on their way: within what the other side keeps when one of them is lost. */
export const MAX_IN_FLIGHT_RECORDS = 48;

/** Bytes that a stream grants its peer beyond what was taken. */
export const STREAM_WINDOW_BYTES = 768 * 1024;

/** An acknowledgement is sent at once after so many records or bytes, and after so many milliseconds otherwise. */
export const ACK_RECORDS = 12;
export const ACK_BYTES = 192 * 1024;
export const ACK_DELAY_MS = 100;

/** Milliseconds without an acknowledgement after which a record is sent again; doubles up to the longest. */
export const RESEND_MS = 500;
export const LONGEST_RESEND_MS = 2_000;

/** Milliseconds in which a record that is reported as missing is not sent a second time. */
export const RESEND_PAUSE_MS = 50;

/** Milliseconds without progress after which a stream counts as broken on its present socket. */
export const STALL_MS = 10_000;

/** Milliseconds that records wait for one that is missing, before the stream counts as broken. */
export const GAP_TIMEOUT_MS = 10_000;

/** Longest control message, bytes. */
export const MAX_CONTROL_BYTES = 2_048;

/** Milliseconds for which an executor keeps a stream without a socket. */
export const DETACHED_MS = 60_000;

/** Milliseconds for which a harness tries to come back to its stream. */
export const RECOVERY_MS = 45_000;

/** Bytes of messages that wait to be taken from one stream of a peer that cannot be held back. */
export const MAX_UNTAKEN_BYTES = 64 * 1024 * 1024;

/** Streams of one executor socket. */
export const MAX_STREAMS = 128;

/** Handshakes that wait for the registry. */
export const MAX_VALIDATIONS = 32;

/** Failed handshakes after which new ones are refused, and for how many milliseconds; streams that are open go on. */
export const MAX_FAILED_HANDSHAKES = 8;
export const HANDSHAKE_PAUSE_MS = 10_000;

/** Milliseconds in which the executor has to answer a handshake. */
export const HANDSHAKE_TIMEOUT_MS = 15_000;

/** Milliseconds for the close of a socket. */
export const SOCKET_CLOSE_MS = 1_000;

/** Milliseconds that a registry has to answer. */
export const REGISTRY_TIMEOUT_MS = 10_000;

/** Longest answer of a registry, bytes. */
export const MAX_REGISTRY_BYTES = 64 * 1024;

/** Pause after a failed registration or dial of an executor, milliseconds: the first and the longest. */
export const FIRST_RETRY_MS = 1_000;
export const LONGEST_RETRY_MS = 30_000;

/** The same for a harness that lost its stream. */
export const FIRST_RESUME_MS = 100;
export const LONGEST_RESUME_MS = 4_000;

/** Milliseconds that a peer has to accept acknowledgements; and that it has once its first message has come without that. */
export const OFFER_TIMEOUT_MS = 5_000;
export const LATE_STATE_MS = 2_000;

/** Longest credential that is read from stdin, bytes. */
export const MAX_CREDENTIAL_BYTES = 64 * 1024;

/** Milliseconds for the first credential to come on stdin. */
export const FIRST_CREDENTIAL_MS = 30_000;

/** Largest frame of the old relay, bytes: one whole message, and its head. */
export const MAX_CLEAR_FRAME_BYTES = MAX_MESSAGE_BYTES + 4096;
