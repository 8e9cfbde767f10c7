import { expandBraces } from "./words.js";

/**
 * What might be commands in a text the grammar does not understand: cut at everything that separates, quotes
 * removed. It finds too much rather than too little.
 */
export function readRoughCommands(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  /** With the redirections, whose targets may be words to a shell. */
  let all: string[] = [];
  let word: string | undefined;
  let isTarget = false;
  const endWord = () => {
    if (word !== undefined && !PREFIXES.has(word)) {
      const expanded = expandBraces(word);
      all.push(...expanded);
      if (!isTarget) words.push(...expanded);
    }
    if (word !== undefined) isTarget = false;
    const isEnd = word !== undefined && ENDS.has(word);
    word = undefined;
    if (isEnd) endCommand();
  };
  const endCommand = () => {
    endWord();
    isTarget = false;
    if (words.length > 0) commands.push(words);
    if (all.length > words.length) commands.push(all);
    words = [];
    all = [];
  };
  for (const [piece, redirect, separator, space, escaped, single, double, plain] of text.matchAll(PIECE)) {
    if (separator !== undefined) endCommand();
    else if (redirect !== undefined) {
      endWord();
      // What follows it is no word of the command.
      isTarget = true;
      all.push(redirect);
    } else if (space !== undefined) endWord();
    else word = (word ?? "") + (escaped ?? single ?? double?.replace(/\\([$`"\\])/g, "$1") ?? plain ?? piece);
  }
  endCommand();
  return commands;
}

const PIECE =
  /((?:(?<![^\s;&|()`])\d+)?(?:&>>?|[<>]+[&|]?))|(\n|;|&|\||\(|\)|`)|([ \t\r]+|\\\n)|\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\s;&|()`\\'"<>]+)|["'\\]/g;

/** Words after which, in zsh, another command may begin: `{ true } { name }`, `if [[ 1 ]] name`. */
const ENDS: ReadonlySet<string> = new Set(["{", "}", "]]"]);

/** Words that may precede a command. */
const PREFIXES: ReadonlySet<string> = new Set(["!", "{", "}", "then", "else", "elif", "do", "if", "while", "until"]);
