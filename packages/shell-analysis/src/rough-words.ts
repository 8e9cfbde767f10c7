import { expandBraces } from "./words.js";

/**
 * What might be commands in a text the grammar does not understand: cut at everything that separates, quotes
 * removed. It finds too much rather than too little.
 */
export function readRoughCommands(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined && !PREFIXES.has(word)) words.push(...expandBraces(word));
    const isEnd = word !== undefined && ENDS.has(word);
    word = undefined;
    if (isEnd) endCommand();
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (const [piece, separator, space, escaped, single, double, plain] of text.matchAll(PIECE)) {
    if (separator !== undefined) endCommand();
    else if (space !== undefined) endWord();
    else word = (word ?? "") + (escaped ?? single ?? double?.replace(/\\([$`"\\])/g, "$1") ?? plain ?? piece);
  }
  endCommand();
  return commands;
}

const PIECE =
  /(\n|;|&|\||\(|\)|`)|([ \t\r]+|\\\n)|\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\s;&|()`\\'"]+)|["'\\]/g;

/** Words after which, in zsh, another command may begin: `{ true } { name }`, `if [[ 1 ]] name`. */
const ENDS: ReadonlySet<string> = new Set(["{", "}", "]]"]);

/** Words that may precede a command. */
const PREFIXES: ReadonlySet<string> = new Set(["!", "{", "}", "then", "else", "elif", "do", "if", "while", "until"]);
