/**
 * Escapes everything that is invisible or ambiguous, for text on which a person bases a decision: it must not repaint the terminal or
 * imitate other text. Line feeds and tabs are kept.
 */
export const visible = (text: string): string => text.replace(new RegExp(INVISIBLE, "gu"), escapeCharacter);

/** The same for text that must stay on one line: line feeds and tabs are escaped as well. */
export const visibleLine = (text: string): string => visible(text).replace(/[\n\t]/g, escapeCharacter);

/**
 * Escapes control, format and bidirectional characters, for text to read: it must not control the terminal. Unlike
 * {@link visible} it keeps the spaces and joiners of any language; CRLF becomes LF.
 */
export const visibleText = (text: string): string =>
  text.replace(/\r\n/g, "\n").replace(/[^\n\t\P{C}]|\p{Zl}|\p{Zp}/gu, escapeCharacter);

/** `\u001b`, or `\u{1f600}` beyond U+FFFF. */
function escapeCharacter(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

/**
 * Characters that are blank, or join others, although their categories do not show it: blank hieroglyphs, the null notehead,
 * fillers, the blank Braille pattern, the object replacement character, and marks that stack letters.
 */
const BLANK =
  "\\u2800\\ufffc\\u{1d159}\\u{13441}\\u{13442}\\u{16fe4}\\u2d7f\\u1039\\u17d2\\u1a60\\u{10a3f}\\u{1107f}\\u{11133}\\u{113d0}\\u{1193e}\\u{11a47}\\u{11a99}\\u{11d45}\\u{11d97}\\u{11f42}";

/**
 * The blanks above, control, format and bidirectional characters, default ignorables, spaces other than U+0020, lone surrogates,
 * private and unassigned code points, and stacked combining marks. Compiled on use: Unicode classes take half a millisecond,
 * and most commands print none of these.
 */
const INVISIBLE = `(?![\\n\\t ])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}${BLANK}]|(?<=\\p{M}{4})\\p{M}`;

/** Joins words to a shell command line, with quotes where needed. */
export const quoteWords = (words: readonly string[]): string => words.map(quoteWord).join(" ");

const quoteWord = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${visible(word.replaceAll("'", "'\\''"))}'`;
