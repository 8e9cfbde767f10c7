/** UTF-8 bytes of another's text that a message quotes. */
const MAX_QUOTED_BYTES = 256;

/** A text of others for use in a message: one line, no control characters, at most `maxBytes` bytes of UTF-8. */
export function quote(text: string, maxBytes = MAX_QUOTED_BYTES): string {
  // Only whole characters are written.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  const line = text
    .slice(0, read)
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return read < text.length ? `${line}…` : line;
}
