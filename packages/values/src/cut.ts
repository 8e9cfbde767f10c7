/** The beginning of a text, at most `units` UTF-16 units; a surrogate pair is never split. */
export function cutEnd(text: string, units: number): string {
  if (text.length <= units) return text;
  return text.slice(0, isSplit(text, units) ? units - 1 : units);
}

/** The end of a text, at most `units` UTF-16 units; a surrogate pair is never split. */
export function cutStart(text: string, units: number): string {
  const at = text.length - units;
  if (at <= 0) return text;
  return text.slice(isSplit(text, at) ? at + 1 : at);
}

/** Whether an offset is within a surrogate pair. */
export const isSplit = (text: string, at: number): boolean => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
