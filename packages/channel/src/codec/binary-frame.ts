import { ChannelError } from "../errors.js";

/**
 * A binary frame, in place of a JSON value: `00`, the length of the head (16 bits, big endian), the length of the
 * body (32 bits, big endian), head, body. No JSON text starts with its first byte.
 */
export const FRAME_MARK = 0x00;

/** Bytes before the head. */
export const FRAME_START_BYTES = 7;

/** A length of 16 bits. */
const MAX_HEAD_BYTES = 0xffff;

export interface FrameLengths {
  head: number;
  body: number;
}

/** Writes everything before the body: the first `FRAME_START_BYTES` bytes and the head. Returns the offset of the body. */
export function writeFrameStart(into: Buffer, at: number, head: Uint8Array, bodyBytes: number): number {
  into[at] = FRAME_MARK;
  into.writeUInt16BE(head.length, at + 1);
  into.writeUInt32BE(bodyBytes, at + 3);
  into.set(head, at + FRAME_START_BYTES);
  return at + FRAME_START_BYTES + head.length;
}

/** @param start at least `FRAME_START_BYTES` bytes, the first being the mark */
export const readFrameLengths = (start: Buffer): FrameLengths => ({
  head: start.readUInt16BE(1),
  body: start.readUInt32BE(3),
});

/** A part of a body up to this size is copied if it is less than half of the memory it lies in, bytes. */
const MAX_COPIED_PART_BYTES = 32 * 1024;

/** A part of a body as it is returned: copied if it is a small part of its memory, which it would keep. */
export const copyIfSmall = (part: Buffer): Buffer =>
  part.length <= MAX_COPIED_PART_BYTES && part.length < part.buffer.byteLength / 2 ? Buffer.from(part) : part;

/** @throws ChannelError `too_large` */
export function checkHead(head: Uint8Array): void {
  if (head.length <= MAX_HEAD_BYTES) return;
  throw new ChannelError(
    "too_large",
    `binary frame was not sent: its head has ${head.length} bytes; the limit is ${MAX_HEAD_BYTES} bytes`,
  );
}
