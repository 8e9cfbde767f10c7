import { MAX_LITERAL_OUTPUT } from "./limits.js";

/** Marks a part of a text that is known only at run time. A script that contains this character itself needs approval. */
export const UNKNOWN = "\ufffe";

export const isUnknown = (text: string): boolean => text.includes(UNKNOWN);

/** One text; where it would be longer than is followed, an unknown one. */
export function joinTexts(texts: readonly string[]): string {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length > MAX_LITERAL_OUTPUT ? UNKNOWN : texts.join("");
}

export const withoutUnknown = (text: string): string => text.replaceAll(UNKNOWN, "");
