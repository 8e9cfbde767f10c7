import { quote } from "@codex/values";

/** A command line with its words quoted as for a shell, shortened like `quote`. */
export const quoteWords = (words: readonly string[], maxBytes: number): string =>
  quote(words.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" "), maxBytes);

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;
