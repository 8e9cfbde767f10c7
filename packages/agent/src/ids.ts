/**
 * Creates a UUIDv7; later ids sort after earlier ones.
 * @param now milliseconds since 1970
 * @param random 10 random bytes
 */
export function createUuid7(now: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(now / 2 ** 32) % 2 ** 16);
  view.setUint32(2, now % 2 ** 32);
  bytes.set(random.subarray(0, 10), 6);
  view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f));
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
