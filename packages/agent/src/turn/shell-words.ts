/** Joins words to a shell command for display, with quotes where needed. */
export const joinWords = (words: readonly string[]): string => words.map(quoteWord).join(" ");

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
