/**
 * Candidates for commands in a text of any language: the pieces between its quotes, brackets and operators, also without their
 * first words (`run-shell zap`).
 */
export function listPieces(text: string): string[][] {
  // A shell joins the parts of a word: `z""ap`.
  const joined = text
    .split("\n")
    .flatMap((line) => (INNER_QUOTES.test(line) ? [line.replace(INNER_QUOTES_ALL, "")] : []));
  return [text, ...joined]
    .flatMap((each) => each.split(PIECE_ENDS))
    .flatMap((piece) => {
      // In a crontab, the time before a command has no letters.
      const words = piece
        .replace(/^(?:\s*[\d*?/,-]+(?=\s))+/, "")
        .trim()
        .split(/\s+/, MAX_PIECE_WORDS);
      if (words[0] === "") return [];
      return words.slice(0, MAX_PIECE_STARTS).map((_, at) => words.slice(at));
    });
}

/** Between commands in code, and what begins one: Ghostscript runs the rest of a file name after `%pipe%`. */
const PIECE_ENDS = /%pipe%|(?<!\\)\\+(?=["'`])|["'`(){}[\]=!:;|&,@$<>\r\n]+|(?<=\b(?:qx|%x))\//;

const INNER_QUOTES = /\w["'\\]+\w/;
const INNER_QUOTES_ALL = /(?<=\w)["'\\]+(?=\w)/g;

const MAX_PIECE_WORDS = 16;
const MAX_PIECE_STARTS = 4;
