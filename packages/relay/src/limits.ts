/** Largest relay frame of the Noise relay, bytes: one websocket message. Codex closes the socket at a larger one. */
export const MAX_FRAME_BYTES = 256 * 1024;

/** Longest stream id, bytes of UTF-8. Codex uses UUIDs of 36 bytes. */
export const MAX_STREAM_ID_BYTES = 512;
