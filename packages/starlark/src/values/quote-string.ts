/** A string literal of the language with this value. */
export function quoteString(text: string): string {
  return `"${text.replace(/["\\]|[^\x20-\x7e]/gu, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const short = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
  if (short !== undefined) return short;
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
