/** Number of bytes at the end that belong to an incomplete character: 0 to 3. */
export function getIncompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (isContinuation(byte)) continue;
    return getCharacterLength(byte) > back ? back : 0;
  }
  return 0;
}

/** Number of bytes at the beginning that continue a previous character: 0 to 3. */
export function getContinuation(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && count < bytes.length && isContinuation(bytes[count]!)) count++;
  return count;
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Bytes of the character that a byte begins; 1 for bytes that begin none. */
function getCharacterLength(byte: number): number {
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  return byte >= 0xf0 && byte <= 0xf4 ? 4 : 1;
}
