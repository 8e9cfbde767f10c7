import { MAX_TEXT_CHARACTERS, TAIL_CHARACTERS } from "../limits.js";

/** Shortens a text that is too long in the middle. */
export function shorten(text: string, limit = MAX_TEXT_CHARACTERS): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  return `${text.slice(0, half)}\n… ${text.length - 2 * half} characters are left out …\n${text.slice(-half)}`;
}

/** Words as a user would type them in a shell. */
const quoteWords = (words: readonly string[]): string => words.map(quoteWord).join(" ");

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The script of a shell command, or the words themselves. */
export function describeCommand(argv: readonly string[]): string {
  const [shell = "", flag = "", script] = argv;
  const isScript = argv.length === 3 && /(^|\/)(ba|z|da|fi|k)?sh$/.test(shell) && /^-[a-z]*c$/.test(flag);
  return shorten(isScript && script !== undefined ? script : quoteWords(argv));
}

// Escape sequences: cursor movement, colours, titles, links.
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;

/** The last lines of terminal output, as plain text. */
export function lastLines(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes).replace(SEQUENCES, "");
  const lines = text.split(/\r?\n/).map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1));
  return lines.slice(-LINES).join("\n").slice(-TAIL_CHARACTERS).trimEnd();
}

const LINES = 10;
