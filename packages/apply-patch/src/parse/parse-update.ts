import { defined } from "@codex/values";
import { type Chunk, type ChunkLine, PatchError, type UpdateFile } from "../patch.js";
import { quoteLine } from "../quote.js";

/** Position of the parser. */
export interface Cursor {
  /** All lines of the patch. */
  readonly lines: readonly string[];
  /** Index of the next line. */
  at: number;
  /** Index of `*** End Patch`. */
  readonly end: number;
  /** Chunks parsed so far. */
  chunks: number;
}

/** Parses what follows `*** Update File: PATH`. */
export function parseUpdate(cursor: Cursor, path: string, line: number): UpdateFile {
  const moveTo = parseMove(cursor, path);
  const chunks: Chunk[] = [];
  for (; cursor.at < cursor.end; ) {
    const text = cursor.lines[cursor.at]!;
    if (text.trim() === "") cursor.at += 1;
    else if (text.startsWith("***") && !isEndOfFile(text)) break;
    else chunks.push(parseChunk(cursor, path, chunks.length === 0));
  }
  cursor.chunks += chunks.length;
  if (chunks.length === 0 && moveTo === undefined) {
    fail(line, path, "the update has no chunk: give lines that begin with ' ', '-' or '+'");
  }
  return { kind: "update", path, line, ...defined({ moveTo }), chunks };
}

function parseMove(cursor: Cursor, path: string): string | undefined {
  const text = cursor.at < cursor.end ? cursor.lines[cursor.at]! : "";
  if (!text.startsWith("*** Move to:")) return undefined;
  const target = text.slice("*** Move to:".length).trim();
  cursor.at += 1;
  if (target === "") fail(cursor.at, path, "'*** Move to:' names no path");
  if (target.includes("\0")) fail(cursor.at, path, `the path '${quoteLine(target)}' has a NUL character`);
  return target;
}

function parseChunk(cursor: Cursor, path: string, isFirst: boolean): Chunk {
  const line = cursor.at + 1;
  const header = parseHeader(cursor, path, isFirst);
  const lines: ChunkLine[] = [];
  let isAtEnd = false;
  for (; cursor.at < cursor.end && !isAtEnd; cursor.at += 1) {
    const text = cursor.lines[cursor.at]!;
    const parsed = parseLine(text);
    if (parsed !== undefined) lines.push(parsed);
    else if (isEndOfFile(text) && lines.length > 0) isAtEnd = true;
    else break;
  }
  if (lines.length === 0) failEmpty(cursor, path);
  return { line, ...defined({ header }), lines, isAtEnd };
}

/** Parses `@@ HEADER`; undefined for `@@` alone, and for a first chunk without it. */
function parseHeader(cursor: Cursor, path: string, isFirst: boolean): string | undefined {
  const text = cursor.lines[cursor.at]!.trimEnd();
  if (text === "@@" || text.startsWith("@@ ")) {
    cursor.at += 1;
    return text === "@@" ? undefined : text.slice("@@ ".length);
  }
  if (isFirst) return undefined;
  fail(
    cursor.at + 1,
    path,
    `a chunk line begins with ' ', '-' or '+', and a new chunk with '@@', not '${quoteLine(text)}'`,
  );
}

function parseLine(text: string): ChunkLine | undefined {
  switch (text[0]) {
    case undefined:
      return { kind: "context", text: "" };
    case " ":
      return { kind: "context", text: text.slice(1) };
    case "+":
      return { kind: "add", text: text.slice(1) };
    case "-":
      return { kind: "remove", text: text.slice(1) };
    default:
      return undefined;
  }
}

const isEndOfFile = (text: string): boolean => text.trimEnd() === "*** End of File";

function failEmpty(cursor: Cursor, path: string): never {
  const text = cursor.at < cursor.end ? cursor.lines[cursor.at]! : "*** End Patch";
  const isMarker = /^\*\*\* (End Patch|End of File|(Add|Delete|Update) File: )/.test(text);
  const found = isMarker ? "the chunk has no lines" : `'${quoteLine(text)}' is not allowed in a chunk`;
  fail(cursor.at + 1, path, `${found}: each line of a chunk begins with ' ' (context), '-' (removed) or '+' (added)`);
}

function fail(line: number, path: string, message: string): never {
  throw new PatchError({
    message: `line ${line} of the patch, in the update of '${quoteLine(path)}': ${message}`,
    line,
    path,
  });
}
