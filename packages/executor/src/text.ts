import { MAX_QUOTED_BYTES } from "./limits.js";
import { getIncompleteTail } from "./utf8.js";

/** A text of a peer as part of a sentence: one line, no control characters, cut to a few bytes. */
export function quote(text: string, maxBytes = MAX_QUOTED_BYTES): string {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  const cut = bytes.subarray(0, maxBytes);
  const whole = cut.subarray(0, cut.length - getIncompleteTail(cut)).toString();
  const line = whole.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return bytes.length > maxBytes || text.length > maxBytes ? `${line}…` : line;
}
