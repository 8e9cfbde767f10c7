/** How bytes that are no text are treated. */
export interface DecodeOptions {
  /** Reject them; by default each becomes U+FFFD. */
  fatal?: boolean;
}

/**
 * Decodes the text of a file as its byte order mark says: UTF-16 of either order, else UTF-8. The mark is no part of the
 * result, and the result has no lone surrogate.
 * @throws TypeError for other bytes when `fatal`
 */
export function decodeText(bytes: Uint8Array, { fatal = false }: DecodeOptions = {}): string {
  return new TextDecoder(findEncoding(bytes), { fatal }).decode(bytes);
}

/** Whether `decodeText` loses nothing. */
export function isText(bytes: Uint8Array): boolean {
  try {
    decodeText(bytes, { fatal: true });
    return true;
  } catch {
    return false;
  }
}

/** UTF-32 is not decoded: its mark, FF FE 00 00, is invalid as UTF-8, and would be taken for UTF-16. */
function findEncoding([first, second, third, fourth]: Uint8Array): string {
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0xff && second === 0xfe && !(third === 0 && fourth === 0)) return "utf-16le";
  return "utf-8";
}
