/** Bytes that become text at once: a multiple of three, so that pieces can be joined. */
const STEP = 3 * 8192;

/** Base64, without Node. */
export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += STEP) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + STEP))));
  }
  return pieces.join("");
}
