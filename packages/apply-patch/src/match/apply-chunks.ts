import { type Chunk, PatchError } from "../patch.js";
import { explainMissing } from "./explain-missing.js";
import { locateChunks, type Replacement } from "./locate-chunks.js";
import { splitLines, type TextLines } from "./text-lines.js";

/**
 * Applies chunks to a file. Unchanged lines keep their bytes, including the line end; new lines, and a last line without one,
 * get the file's first line end. @throws PatchError naming what was not found
 */
export function applyChunks(content: Uint8Array, chunks: readonly Chunk[]): Uint8Array {
  if (chunks.length === 0) return content;
  const text = splitLines(decode(content));
  const located = locateChunks(text, chunks);
  if (!located.ok) throw new PatchError({ message: explainMissing(text, located), line: located.chunk.line });
  return new TextEncoder().encode(replace(text, located.replacements));
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
    return locateChunks(splitLines(decode(content)), checked).ok;
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
    for (const { kind, text } of replacement.lines) {
      if (kind === "context") add(lines[at]!, ends[at]!);
      else if (kind === "add") add(text, newline);
      if (kind !== "add") at += 1;
    }
  }
  keepUntil(lines.length);
  if (mark !== "" && texts[0]?.startsWith(mark)) texts[0] = texts[0].slice(mark.length);
  return mark + texts.map((line, index) => line + (textEnds[index] || newline)).join("");
}
