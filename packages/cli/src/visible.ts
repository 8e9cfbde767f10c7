/**
 * Characters that draw nothing, or draw elsewhere, as escapes: text of others must not repaint the terminal, nor look like
 * another text. Line ends and tabs stay.
 */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });

/** Controls, format and direction characters, what may be left out of a drawing, spaces but the usual one, halves of pairs. */
const UNSEEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}/gu;

/** A command as a person would type it. */
export const quoteWords = (words: readonly string[]): string => words.map(quoteWord).join(" ");

const quoteWord = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${visible(word.replaceAll("'", "'\\''"))}'`;
