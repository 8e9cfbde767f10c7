/** Text split into lines; mark, lines and line ends together are the whole text. */
export interface TextLines {
  /** The byte order mark, or "". */
  mark: string;
  /** Without line ends. */
  lines: readonly string[];
  /** The line end of each: LF, CRLF, CR, or "" for a last line without one. */
  ends: readonly string[];
  /** Line end of new lines: the first LF or CRLF of the file, CR in a file that has neither, or LF. */
  newline: string;
}

/** Splits a text at LF and CRLF; at CR only if it has no LF, as a CR in other files is part of a line. */
export function splitLines(text: string): TextLines {
  return text.includes("\n") ? splitAt(text, /\r?\n/g) : splitAt(text, /\r/g);
}

/** Splits at every CR too; undefined if that is how `splitLines` splits. */
export function splitAtEveryEnd(text: string): TextLines | undefined {
  return text.includes("\n") && /\r(?!\n)/.test(text) ? splitAt(text, /\r\n|\n|\r/g) : undefined;
}

function splitAt(text: string, pattern: RegExp): TextLines {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const lines: string[] = [];
  const ends: string[] = [];
  let from = mark.length;
  for (const { index, 0: end } of text.matchAll(pattern)) {
    lines.push(text.slice(from, index));
    ends.push(end);
    from = index + end.length;
  }
  if (from < text.length) {
    lines.push(text.slice(from));
    ends.push("");
  }
  const newline = ends.find((end) => end.endsWith("\n")) ?? ends[0];
  return { mark, lines, ends, newline: newline || "\n" };
}
