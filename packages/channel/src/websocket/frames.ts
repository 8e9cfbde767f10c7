import { FRAME_START_BYTES, writeFrameStart } from "../codec/binary-frame.js";

/** RFC 6455, 5.2: a text or binary message in one frame, and its length in 0, 2 or 8 further bytes. */
const TEXT_AND_LAST = 0x81;
const BINARY_AND_LAST = 0x82;
const LENGTH_OF_2_BYTES = 126;
const LENGTH_OF_8_BYTES = 127;
const MAX_HEADER_BYTES = 10;

/** A buffer for an unmasked text frame, with its header already written. */
export function allocateText(bytes: number): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes(bytes) + bytes);
  writeHeader(frame, TEXT_AND_LAST, bytes);
  return frame;
}

function headerBytes(bytes: number): number {
  if (bytes < LENGTH_OF_2_BYTES) return 2;
  return bytes <= 0xffff ? 4 : MAX_HEADER_BYTES;
}

/** Writes the header of an unmasked frame. Returns the offset of the payload. */
function writeHeader(into: Buffer, kind: number, bytes: number): number {
  into[0] = kind;
  if (bytes < LENGTH_OF_2_BYTES) {
    into[1] = bytes;
    return 2;
  }
  if (bytes <= 0xffff) {
    into[1] = LENGTH_OF_2_BYTES;
    into.writeUInt16BE(bytes, 2);
    return 4;
  }
  into[1] = LENGTH_OF_8_BYTES;
  into.writeUInt32BE(0, 2);
  into.writeUInt32BE(bytes, 6);
  return MAX_HEADER_BYTES;
}

/** A binary frame of a channel as one unmasked websocket frame. */
export function encodeBinary(head: Uint8Array, body: Uint8Array): Buffer {
  const bytes = FRAME_START_BYTES + head.length + body.length;
  const frame = Buffer.allocUnsafe(headerBytes(bytes) + bytes);
  frame.set(body, writeFrameStart(frame, writeHeader(frame, BINARY_AND_LAST, bytes), head, body.length));
  return frame;
}

/** The same without the body, which is written after it. */
export function encodeBinaryStart(head: Uint8Array, bodyBytes: number): Buffer {
  const bytes = FRAME_START_BYTES + head.length + bodyBytes;
  const start = Buffer.allocUnsafe(headerBytes(bytes) + FRAME_START_BYTES + head.length);
  writeFrameStart(start, writeHeader(start, BINARY_AND_LAST, bytes), head, bodyBytes);
  return start;
}
