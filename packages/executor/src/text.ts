import { MAX_QUOTED_BYTES } from "./limits.js";
import { getIncompleteTail } from "./output/utf8.js";

/** Words as a shell would read them, shown as `quote` shows a text. */
export const quoteWords = (words: readonly string[], maxBytes: number): string =>
  quote(words.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" "), maxBytes);

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A text of a peer as part of a sentence: one line, no control characters, cut to a few bytes. */
export function quote(text: string, maxBytes = MAX_QUOTED_BYTES): string {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  const cut = bytes.subarray(0, maxBytes);
  const whole = cut.subarray(0, cut.length - getIncompleteTail(cut)).toString();
  const line = whole.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return bytes.length > maxBytes || text.length > maxBytes ? `${line}…` : line;
}
