/** Splits text into grapheme clusters. */
export function splitCharacters(text: string): string[] {
  // The segmenter is slow, and ASCII needs none.
  if (/^[\x20-\x7e]*$/.test(text)) return [...text];
  return [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)].map(({ segment }) => segment);
}

/** Maximum columns of a character: two unless it is Latin, Greek, Cyrillic or similar. */
export function columnsOf(character: string): number {
  if (character === "\t") return TAB.length;
  const code = character.codePointAt(0) ?? 0;
  return code < FIRST_WIDE || character === "…" || character === "›" ? 1 : 2;
}

const FIRST_WIDE = 0x1100;
/** Replacement for a tab, whose width depends on its position. */
const TAB = "    ";

/** Truncates a line to a width, with a trailing `…`. */
export function cutToColumns(line: string, columns: number): string {
  let used = 0;
  let shown = "";
  for (const character of splitCharacters(line.slice(0, columns * MAX_UNITS))) {
    const drawn = character === "\t" ? TAB : character;
    used += columnsOf(character);
    if (used > columns) return columns < 2 ? "" : `${cutToColumns(shown, columns - 1).replace(/\u2026$/, "")}…`;
    shown += drawn;
  }
  return shown;
}

/** Maximum UTF-16 units considered per column. */
const MAX_UNITS = 16;
