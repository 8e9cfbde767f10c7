import type { Chunk, ChunkLine } from "../patch.js";
import { LineIndex } from "./line-index.js";
import type { TextLines } from "./text-lines.js";

/** Lines of a file, and what takes their place. */
export interface Replacement {
  /** Index of the first line. */
  start: number;
  /** Lines that are replaced. */
  count: number;
  /** Those that are not `add` stand for the `count` lines of the file. */
  lines: readonly ChunkLine[];
}

/** Where the lines of a chunk are, or what was not found, and from which line on it was sought. */
export type Located =
  | { ok: true; replacements: readonly Replacement[] }
  | { ok: false; chunk: Chunk; missing: "header" | "lines"; from: number };

/**
 * Finds the chunks in a file, forward only. A last empty line of a chunk may be missing. Lines that are only added go
 * behind the header, without one to the end.
 */
export function locateChunks({ mark, lines }: TextLines, chunks: readonly Chunk[]): Located {
  const index = new LineIndex(lines, mark);
  const replacements: Replacement[] = [];
  let at = 0;
  for (const chunk of chunks) {
    if (chunk.header !== undefined) {
      const found = index.find([chunk.header], at, false);
      if (found === undefined) return { ok: false, chunk, missing: "header", from: at };
      at = found + 1;
    }
    const placed = place(chunk, index, at, lines.length);
    if (placed === undefined) return { ok: false, chunk, missing: "lines", from: at };
    replacements.push(placed);
    if (placed.count > 0) at = placed.start + placed.count;
  }
  // Stable: what goes to the same place stays in the order of the patch.
  replacements.sort((one, other) => one.start - other.start);
  return { ok: true, replacements };
}

function place(chunk: Chunk, index: LineIndex, from: number, end: number): Replacement | undefined {
  const sought = getSought(chunk.lines);
  const found = sought.length === 0 ? undefined : index.find(sought, from, chunk.isAtEnd);
  if (found !== undefined) return { start: found, count: sought.length, lines: chunk.lines };
  if (sought.length > 0 && sought.at(-1) !== "") return undefined;
  const lines = sought.length === 0 ? chunk.lines : withoutLastEmpty(chunk.lines);
  const shorter = sought.slice(0, -1);
  if (shorter.length === 0) {
    const start = chunk.header === undefined || chunk.isAtEnd ? end : from;
    return { start, count: 0, lines };
  }
  const start = index.find(shorter, from, chunk.isAtEnd);
  return start === undefined ? undefined : { start, count: shorter.length, lines };
}

/** The lines that have to be in the file. */
export const getSought = (lines: readonly ChunkLine[]): string[] =>
  lines.filter(({ kind }) => kind !== "add").map(({ text }) => text);

/** Without the last line that is sought, which is empty, and without an empty last line that would be put in its place. */
function withoutLastEmpty(lines: readonly ChunkLine[]): readonly ChunkLine[] {
  const last = lines.findLastIndex(({ kind }) => kind !== "add");
  const kept = lines.findLastIndex(({ kind }) => kind !== "remove");
  // Context in the middle of what is added becomes a new line there.
  const isNew = lines[last]?.kind === "context" && kept > last;
  const added = isNew ? lines.with(last, { kind: "add", text: "" }) : lines.toSpliced(last, 1);
  const end = added.findLastIndex(({ kind }) => kind !== "remove");
  const mayDropEnd = lines[last]?.kind === "remove" || isNew;
  return mayDropEnd && added[end]?.kind === "add" && added[end].text === "" ? added.toSpliced(end, 1) : added;
}
