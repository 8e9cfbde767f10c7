import { type Chunk, type ChunkLine, PatchError } from "../patch.js";
import { explainMissing } from "./explain-missing.js";
import { locateChunks, type Replacement } from "./locate-chunks.js";
import { splitAtEveryEnd, splitLines, type TextLines } from "./text-lines.js";

/**
 * Applies chunks to a file. Unchanged lines keep their bytes, including the line end; new lines, and a last line without one,
 * get the file's first line end. Chunks that are not found may name what CRs separate within lines.
 * @throws PatchError naming what was not found
 */
export function applyChunks(content: Uint8Array, chunks: readonly Chunk[]): Uint8Array {
  if (chunks.length === 0) return content;
  const decoded = decode(content);
  const text = splitLines(decoded);
  const located = locateChunks(text, chunks);
  if (located.ok) return new TextEncoder().encode(replace(text, located.replacements));
  const parts = splitAtEveryEnd(decoded);
  const inParts = parts && locateChunks(parts, chunks);
  if (inParts?.ok) return new TextEncoder().encode(replace(parts!, inParts.replacements));
  throw new PatchError({ message: explainMissing(text, located), line: located.chunk.line });
}

/**
 * Whether a file contains the result of an update: the kept and added lines of its chunks, in order. Chunks that only remove
 * lines are ignored.
 */
export function hasResult(content: Uint8Array, chunks: readonly Chunk[]): boolean {
  const results = chunks.map((chunk) => ({
    ...chunk,
    lines: chunk.lines.flatMap(({ kind, text }) => (kind === "remove" ? [] : [{ kind: "context" as const, text }])),
  }));
  const checked = results.filter(({ lines }) => lines.length > 0);
  if (checked.length === 0) return false;
  try {
    const text = decode(content);
    const parts = splitAtEveryEnd(text);
    return locateChunks(splitLines(text), checked).ok || (parts !== undefined && locateChunks(parts, checked).ok);
  } catch (error) {
    if (error instanceof PatchError) return false;
    throw error;
  }
}

/** @throws PatchError for bytes that are not UTF-8 */
function decode(content: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    const message = "it is not UTF-8, so its lines cannot be changed by a patch: change it with a command";
    throw new PatchError({ message });
  }
}

/** Splits the lines of a chunk after each context line. */
function splitRuns(lines: readonly ChunkLine[]): ChunkLine[][] {
  const runs: ChunkLine[][] = [[]];
  for (const line of lines) {
    runs.at(-1)!.push(line);
    if (line.kind === "context") runs.push([]);
  }
  return runs;
}

function replace({ mark, lines, ends, newline }: TextLines, replacements: readonly Replacement[]): string {
  const texts: string[] = [];
  const textEnds: string[] = [];
  const add = (line: string, end: string) => {
    texts.push(line);
    textEnds.push(end);
  };
  let at = 0;
  const keepUntil = (end: number) => {
    for (; at < end; at += 1) add(lines[at]!, ends[at]!);
  };
  for (const replacement of replacements) {
    keepUntil(replacement.start);
    for (const run of splitRuns(replacement.lines)) {
      const removed = run.filter(({ kind }) => kind === "remove").map((_, index) => ends[at + index]!);
      const added = run.filter(({ kind }) => kind === "add");
      // What replaces a part before a CR stays such a part.
      const isPaired = removed.length === added.length;
      for (const [index, { text }] of added.entries()) add(text, isPaired && removed[index] === "\r" ? "\r" : newline);
      at += removed.length;
      if (run.at(-1)?.kind === "context") keepUntil(at + 1);
    }
  }
  keepUntil(lines.length);
  if (mark !== "" && texts[0]?.startsWith(mark)) texts[0] = texts[0].slice(mark.length);
  return mark + texts.map((line, index) => line + (textEnds[index] || newline)).join("");
}
