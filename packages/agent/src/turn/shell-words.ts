/** A command as a shell would take it, for people: words that need it are quoted. */
export const joinWords = (words: readonly string[]): string => words.map(quoteWord).join(" ");

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
