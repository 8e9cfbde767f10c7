/**
 * Candidates for commands in a text of any language: the pieces between its quotes, brackets and operators, also without their
 * first words (`run-shell zap`).
 */
export function listPieces(text: string): string[][] {
  return text.split(PIECE_ENDS).flatMap((piece) => {
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

const MAX_PIECE_WORDS = 16;
const MAX_PIECE_STARTS = 4;
