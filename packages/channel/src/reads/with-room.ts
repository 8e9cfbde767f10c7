/**
 * A buffer with room for `needed` bytes that begins with the first `used` of `buffer`: itself, or one of twice its size, at most `most` bytes
 * where those suffice. So appending takes linear time for pieces of any size, and many small ones take no buffer each.
 */
export function withRoom(buffer: Buffer, used: number, needed: number, most: number): Buffer {
  if (needed <= buffer.length) return buffer;
  const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * buffer.length, most)));
  buffer.copy(grown, 0, 0, used);
  return grown;
}
