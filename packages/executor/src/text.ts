import { MAX_QUOTED_BYTES } from "./limits.js";
import { getIncompleteTail } from "./output/utf8.js";

/** A command line with its words quoted as for a shell, shortened like `quote`. */
export const quoteWords = (words: readonly string[], maxBytes: number): string =>
  quote(words.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" "), maxBytes);

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A text from a peer, for use in a message: one line, no control characters, at most `maxBytes` bytes. */
export function quote(text: string, maxBytes = MAX_QUOTED_BYTES): string {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  const cut = bytes.subarray(0, maxBytes);
  const whole = cut.subarray(0, cut.length - getIncompleteTail(cut)).toString();
  const line = whole.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return bytes.length > maxBytes || text.length > maxBytes ? `${line}…` : line;
}
