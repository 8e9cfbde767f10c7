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

/** The bytes of base64; undefined for text that is none. */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
