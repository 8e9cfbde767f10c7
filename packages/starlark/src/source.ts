/** A text with a name for messages. Offsets are UTF-16 indices into `text`; lines and columns start at 1. */
export interface Source {
  readonly file: string;
  readonly text: string;
}

export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export function getLocation(source: Source, offset: number): SourceLocation {
  return findLocation(source, listLineStarts(source.text), offset);
}

/** Offsets at which lines start, in order. */
export function listLineStarts(text: string): number[] {
  const starts = [0];
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) starts.push(index + 1);
  return starts;
}

/** `getLocation` for many offsets of one source; `lineStarts` comes from `listLineStarts`. */
export function findLocation(source: Source, lineStarts: readonly number[], offset: number): SourceLocation {
  let low = 0;
  let high = lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { file: source.file, line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}
