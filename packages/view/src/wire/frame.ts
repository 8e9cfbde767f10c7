/** Length of the header, bytes: session (4) and offset (8), big-endian. */
const FRAME_HEADER_BYTES = 12;

/** A binary frame with output of a session from a byte offset on, in memory of its own. */
export function encodeFrame(session: number, offset: number, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const frame = new Uint8Array(FRAME_HEADER_BYTES + length);
  const header = new DataView(frame.buffer);
  header.setUint32(0, session);
  header.setBigUint64(4, BigInt(offset));
  let at = FRAME_HEADER_BYTES;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}

/** Decodes a frame; `bytes` shares its memory. */
export function decodeFrame(frame: ArrayBuffer): { session: number; offset: number; bytes: Uint8Array } {
  const header = new DataView(frame);
  return {
    session: header.getUint32(0),
    offset: Number(header.getBigUint64(4)),
    bytes: new Uint8Array(frame, FRAME_HEADER_BYTES),
  };
}
