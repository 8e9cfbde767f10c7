import { cutEnd } from "@codex/values";
import { MAX_QUOTED_CHARACTERS, MAX_QUOTED_LINES } from "./limits.js";

/** Quotes a line for an error: truncated between two characters, with control characters escaped. */
export function quoteLine(text: string): string {
  const cut = text.length > MAX_QUOTED_CHARACTERS ? `${cutEnd(text, MAX_QUOTED_CHARACTERS)}…` : text;
  return cut.replace(CONTROLS, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g;

/** Quotes several lines for an error. */
export function quoteLines(lines: readonly string[]): string {
  const shown = lines.slice(0, MAX_QUOTED_LINES).map(quoteLine);
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`… ${more} more lines`] : [])].join("\n");
}
