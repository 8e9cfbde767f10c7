/** Text split into lines; mark, lines and line ends together are the whole text. */
export interface TextLines {
  /** The byte order mark, or "". */
  mark: string;
  /** Without line ends. */
  lines: readonly string[];
  /** The line end of each: LF, CRLF, CR, or "" for a last line without one. */
  ends: readonly string[];
  /** Line end of new lines: the file's first line end, or LF. */
  newline: string;
}

/** Splits a text at LF, CRLF and CR. */
export function splitLines(text: string): TextLines {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const lines: string[] = [];
  const ends: string[] = [];
  let from = mark.length;
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push(text.slice(from, index));
    ends.push(end);
    from = index + end.length;
  }
  if (from < text.length) {
    lines.push(text.slice(from));
    ends.push("");
  }
  return { mark, lines, ends, newline: ends.find((end) => end !== "") ?? "\n" };
}
