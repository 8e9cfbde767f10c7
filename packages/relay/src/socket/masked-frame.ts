import { randomBytes } from "node:crypto";

/** RFC 6455, 5.2: a binary message in one frame, and its length in 2 or 8 further bytes. */
const BINARY_AND_LAST = 0x82;
const MASKED = 0x80;
const LENGTH_OF_2_BYTES = 126;
const LENGTH_OF_8_BYTES = 127;
const MASK_BYTES = 4;
const MAX_HEADER_BYTES = 10 + MASK_BYTES;

/** A message up to this size is written as one buffer, bytes. */
const MAX_COPIED_BYTES = 8 * 1024;

/** Random bytes that are generated in one call. */
const POOL_BYTES = 4 * 1024;

/**
 * Encodes binary websocket messages as a client must, masked. Large parts are masked in place, four bytes at a time: ws would
 * need one buffer, and would copy it byte by byte.
 */
export class MaskedFrames {
  #pool = Buffer.alloc(0);
  #used = POOL_BYTES;

  /** Returns what is to be written. The parts are changed, or copied. */
  encode(parts: readonly Buffer[]): Buffer[] {
    let length = 0;
    for (const part of parts) length += part.length;
    const mask = this.#drawMask();
    if (length > MAX_COPIED_BYTES) {
      let at = 0;
      for (const part of parts) {
        applyMask(part, mask, at);
        at += part.length;
      }
      const header = Buffer.allocUnsafe(MAX_HEADER_BYTES);
      return [header.subarray(0, writeHeader(header, length, mask)), ...parts];
    }
    const frame = Buffer.allocUnsafe(MAX_HEADER_BYTES + length);
    const start = writeHeader(frame, length, mask);
    let at = start;
    for (const part of parts) {
      frame.set(part, at);
      at += part.length;
    }
    applyMask(frame.subarray(start, at), mask, 0);
    return [frame.subarray(0, at)];
  }

  #drawMask(): Buffer {
    if (this.#used === POOL_BYTES) {
      this.#pool = randomBytes(POOL_BYTES);
      this.#used = 0;
    }
    this.#used += MASK_BYTES;
    return this.#pool.subarray(this.#used - MASK_BYTES, this.#used);
  }
}

/** Returns the offset of the payload. */
function writeHeader(into: Buffer, length: number, mask: Buffer): number {
  into[0] = BINARY_AND_LAST;
  let at = 2;
  if (length < LENGTH_OF_2_BYTES) {
    into[1] = MASKED | length;
  } else if (length <= 0xffff) {
    into[1] = MASKED | LENGTH_OF_2_BYTES;
    at = into.writeUInt16BE(length, at);
  } else {
    into[1] = MASKED | LENGTH_OF_8_BYTES;
    at = into.writeUInt32BE(Math.floor(length / 2 ** 32), at);
    at = into.writeUInt32BE(length >>> 0, at);
  }
  into.set(mask, at);
  return at + MASK_BYTES;
}

/** @param from offset of the bytes in the payload */
function applyMask(bytes: Buffer, mask: Buffer, from: number): void {
  const { buffer, byteOffset, length } = bytes;
  let at = 0;
  for (; at < length && (byteOffset + at) % MASK_BYTES !== 0; at += 1) bytes[at]! ^= mask[(from + at) % MASK_BYTES]!;
  const count = Math.floor((length - at) / MASK_BYTES);
  if (count > 0) {
    const words = new Uint32Array(buffer, byteOffset + at, count);
    const rotated = Uint8Array.from(mask, (_, index) => mask[(from + at + index) % MASK_BYTES]!);
    const [word] = new Uint32Array(rotated.buffer);
    for (let index = 0; index < count; index += 1) words[index]! ^= word!;
    at += count * MASK_BYTES;
  }
  for (; at < length; at += 1) bytes[at]! ^= mask[(from + at) % MASK_BYTES]!;
}
