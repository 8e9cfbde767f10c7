export { type DecodedFrame, decodeFrame, type FrameHead, readFrameHead } from "./frames/decode.js";
export { encodeFrame } from "./frames/encode.js";
export type { FrameBody, FrameKind, RelayFrame } from "./frames/frame.js";
export { MAX_FRAME_BYTES, MAX_STREAM_ID_BYTES } from "./limits.js";
