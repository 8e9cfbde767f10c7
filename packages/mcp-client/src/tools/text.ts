/** Without control characters but line ends and tabs, and without invisible ones that reorder or hide text. */
export const withoutControls = (text: string): string => text.replace(CONTROLS, "");

/** On one line, at most `maxBytes` long. */
export const toSentence = (text: string, maxBytes: number): string =>
  cut(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim(), maxBytes);

/** At most so many bytes of UTF-8, cut between characters. */
export function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

const CONTROLS = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;
