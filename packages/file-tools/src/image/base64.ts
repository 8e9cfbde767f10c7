/** Bytes encoded per step: a multiple of three, so that the results can be concatenated. */
const STEP = 3 * 8192;

/** Encodes base64 without Node APIs. */
export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += STEP) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + STEP))));
  }
  return pieces.join("");
}

/** Decodes base64; undefined when invalid. */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
