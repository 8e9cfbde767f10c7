/** Removes control characters except line ends and tabs, and invisible characters that reorder or hide text. */
export const withoutControls = (text: string): string => text.replace(CONTROLS, "");

/** The text on one line, at most `maxBytes` long. */
export const toSentence = (text: string, maxBytes: number): string =>
  cut(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim(), maxBytes);

/** At most `maxBytes` of UTF-8, cut between characters. */
export function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

const CONTROLS = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;
