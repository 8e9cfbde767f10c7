/** One character as a person sees it: a letter with its accents, an emoji of several code points. */
export function splitCharacters(text: string): string[] {
  // The segmenter is slow, and ASCII has nothing to be kept together.
  if (/^[\x20-\x7e]*$/.test(text)) return [...text];
  return [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)].map(({ segment }) => segment);
}

/** Columns that a character takes at most: what is not Latin, Greek, Cyrillic or alike counts as two. */
export function columnsOf(character: string): number {
  if (character === "\t") return TAB.length;
  const code = character.codePointAt(0) ?? 0;
  return code < FIRST_WIDE || character === "…" || character === "›" ? 1 : 2;
}

const FIRST_WIDE = 0x1100;
/** A tab as it is drawn: its real width depends on where it stands. */
const TAB = "    ";

/** The beginning of a line, as far as it fits; `…` at its end where it was cut. */
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

/** UTF-16 units of one character that are looked at for a column. */
const MAX_UNITS = 16;
