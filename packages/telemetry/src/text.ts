/** Cuts a text to at most `bytes` bytes of UTF-8, between characters. */
export function cutToBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text, "utf8");
  if (encoded.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && isContinuation(encoded[end])) end--;
  return encoded.toString("utf8", 0, end);
}

/** One line for a log: control characters become spaces, and it is cut to `bytes` bytes. */
export const cleanLine = (text: string, bytes: number): string =>
  cutToBytes(text, bytes).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");

/** A byte of a UTF-8 sequence after its first: 10xxxxxx. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
