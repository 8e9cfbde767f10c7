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
