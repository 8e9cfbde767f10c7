/** Splits at most `limit` times from the left; without a separator at runs of white space. */
export function splitText(text: string, separator: string | undefined, limit: number): string[] {
  if (separator !== undefined) return splitAtSeparator(text, separator, limit);
  const words = [...text.matchAll(/\S+/gu)];
  const rest = words[limit];
  if (rest === undefined || words.length - 1 <= limit) return words.map(([word]) => word);
  return [...words.slice(0, limit).map(([word]) => word), text.slice(rest.index)];
}

/** Splits at most `limit` times from the right. */
export function splitTextFromEnd(text: string, separator: string | undefined, limit: number): string[] {
  if (separator !== undefined) {
    const parts = splitAtSeparator(text, separator, Number.POSITIVE_INFINITY);
    const kept = Math.max(1, parts.length - limit);
    return [parts.slice(0, kept).join(separator), ...parts.slice(kept)];
  }
  const words = [...text.matchAll(/\S+/gu)];
  const last = words[words.length - 1 - limit];
  if (last === undefined || words.length - 1 <= limit) return words.map(([word]) => word);
  return [text.slice(0, last.index + last[0].length), ...words.slice(words.length - limit).map(([word]) => word)];
}

function splitAtSeparator(text: string, separator: string, limit: number): string[] {
  const parts = separator === "" ? ["", ...text, ""] : text.split(separator);
  if (parts.length - 1 <= limit) return parts;
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

export function splitLines(text: string, keepEnds: boolean): string[] {
  const lines = text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
  return keepEnds ? lines : lines.map((line) => line.replace(/(?<![\r\n])[\r\n]+$/, ""));
}
