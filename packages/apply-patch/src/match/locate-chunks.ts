import type { Chunk, ChunkLine } from "../patch.js";
import { LineIndex } from "./line-index.js";
import type { TextLines } from "./text-lines.js";

/** A range of lines of a file, and its replacement. */
export interface Replacement {
  /** Index of the first line. */
  start: number;
  /** Number of lines replaced. */
  count: number;
  /** Context and removed lines correspond to the `count` lines of the file. */
  lines: readonly ChunkLine[];
}

/** The replacements of all chunks, or what was not found, and the line at which the search started. */
export type Located =
  | { ok: true; replacements: readonly Replacement[] }
  | { ok: false; chunk: Chunk; missing: "header" | "lines"; from: number };

/**
 * Locates chunks in a file, searching forward only. A trailing empty line of a chunk may be missing in the file. A chunk of
 * added lines only goes after its header, or without one to the end; one that also has an empty line before them, which the file
 * lacks, goes where the search starts.
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
  // Stable sort: insertions at the same position keep the order of the patch.
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
    const addsOnly = sought.length === 0 || chunk.lines.at(-1)?.kind === "context";
    const isAppended = chunk.isAtEnd || (addsOnly && chunk.header === undefined);
    return { start: isAppended ? end : from, count: 0, lines };
  }
  const start = index.find(shorter, from, chunk.isAtEnd);
  return start === undefined ? undefined : { start, count: shorter.length, lines };
}

/** The lines that must exist in the file. */
export const getSought = (lines: readonly ChunkLine[]): string[] =>
  lines.filter(({ kind }) => kind !== "add").map(({ text }) => text);

/** Removes the empty last searched line, and an empty last line that would replace it. */
function withoutLastEmpty(lines: readonly ChunkLine[]): readonly ChunkLine[] {
  const last = lines.findLastIndex(({ kind }) => kind !== "add");
  const kept = lines.findLastIndex(({ kind }) => kind !== "remove");
  // Context between added lines becomes an added line.
  const isNew = lines[last]?.kind === "context" && kept > last;
  const added = isNew ? lines.with(last, { kind: "add", text: "" }) : lines.toSpliced(last, 1);
  const end = added.findLastIndex(({ kind }) => kind !== "remove");
  const mayDropEnd = lines[last]?.kind === "remove" || isNew;
  return mayDropEnd && added[end]?.kind === "add" && added[end].text === "" ? added.toSpliced(end, 1) : added;
}
