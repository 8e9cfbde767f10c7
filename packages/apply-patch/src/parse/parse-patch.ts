import { defined } from "@codex/values";
import { MAX_CHUNKS, MAX_OPERATIONS, MAX_PATCH_BYTES } from "../limits.js";
import { type Operation, type Patch, PatchError, type PatchProblem } from "../patch.js";
import { quoteLine } from "../quote.js";
import { type Cursor, parseUpdate } from "./parse-update.js";
import { isBegin, peelPatch } from "./peel.js";

/** A patch, or the problem. */
export type ParsedPatch = { ok: true; patch: Patch } | { ok: false; problem: PatchProblem };

/**
 * Parses a patch from `*** Begin Patch` to `*** End Patch`, of at most `MAX_PATCH_BYTES`. Never throws; takes linear time.
 */
export function parsePatch(text: string): ParsedPatch {
  try {
    checkText(text);
    return { ok: true, patch: parse(peelPatch(text)) };
  } catch (error) {
    if (error instanceof PatchError) return { ok: false, problem: error.problem };
    throw error;
  }
}

function checkText(text: string): void {
  const bytes = text.length > MAX_PATCH_BYTES ? text.length : new TextEncoder().encode(text).length;
  if (bytes > MAX_PATCH_BYTES) {
    const message = `the patch has ${bytes} bytes; at most ${MAX_PATCH_BYTES} bytes are taken: send it in parts`;
    throw new PatchError({ message });
  }
  const at = text.search(LONE_SURROGATE);
  if (at === -1) return;
  const line = text.slice(0, at).split("\n").length;
  fail(line, "the patch has half of a surrogate pair there, which is not a character and cannot be written to a file");
}

const LONE_SURROGATE = /\p{Cs}/u;

function parse(lines: readonly string[]): Patch {
  checkFrame(lines);
  const cursor: Cursor = { lines, at: 1, end: lines.length - 1, chunks: 0 };
  const environmentId = parseEnvironment(cursor);
  const operations: Operation[] = [];
  while (cursor.at < cursor.end) {
    operations.push(parseOperation(cursor));
    if (operations.length > MAX_OPERATIONS) fail(cursor.at, `a patch has at most ${MAX_OPERATIONS} file operations`);
    if (cursor.chunks > MAX_CHUNKS) fail(cursor.at, `a patch has at most ${MAX_CHUNKS} chunks`);
  }
  if (operations.length === 0) throw new PatchError({ message: `the patch is empty: it names no file. ${HEADERS}` });
  return { ...defined({ environmentId }), operations };
}

function checkFrame(lines: readonly string[]): void {
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined) {
    const message = "the patch is empty: it begins with '*** Begin Patch' and ends with '*** End Patch'";
    throw new PatchError({ message });
  }
  if (!isBegin(first)) fail(1, `a patch begins with '*** Begin Patch', not with '${quoteLine(first)}'${hint(first)}`);
  if (last?.trim() === "*** End Patch") return;
  const found = lines.length === 1 ? "" : `, not with '${quoteLine(last ?? "")}'`;
  fail(lines.length, `a patch ends with '*** End Patch'${found}`);
}

function hint(first: string): string {
  if (/^\s*\*\*\* begin patch\s*$/i.test(first)) return ": upper and lower case matter";
  if (/^(diff |--- |\+\+\+ |Index: )/.test(first)) return ": this is a git diff, which is not supported";
  if (/^\s*(apply_?patch\s*)?<</.test(first)) return ": the here-document around it has no end";
  return "";
}

function parseEnvironment(cursor: Cursor): string | undefined {
  const found = /^\*\*\* Environment ID:(.*)$/.exec(cursor.lines[cursor.at]?.trim() ?? "");
  if (found === null || cursor.at >= cursor.end) return undefined;
  const id = found[1]!.trim();
  if (id === "") fail(cursor.at + 1, "'*** Environment ID:' names no environment");
  cursor.at += 1;
  return id;
}

function parseOperation(cursor: Cursor): Operation {
  const line = cursor.at + 1;
  const text = cursor.lines[cursor.at]!;
  const header = /^\*\*\* (Add|Delete|Update) File: (.+)$/.exec(text.trim());
  if (header === null) fail(line, describeNoHeader(text));
  const path = header[2]!.trim();
  if (path.includes("\0")) fail(line, `the path '${quoteLine(path)}' has a NUL character`);
  cursor.at += 1;
  switch (header[1]) {
    case "Add":
      return { kind: "add", path, line, lines: parseAdded(cursor) };
    case "Delete":
      return { kind: "delete", path, line };
    default:
      return parseUpdate(cursor, path, line);
  }
}

function parseAdded(cursor: Cursor): string[] {
  const lines: string[] = [];
  for (; cursor.at < cursor.end && cursor.lines[cursor.at]!.startsWith("+"); cursor.at += 1) {
    lines.push(cursor.lines[cursor.at]!.slice(1));
  }
  return lines;
}

function describeNoHeader(text: string): string {
  const shown = `'${quoteLine(text)}'`;
  const trimmed = text.trim();
  if (trimmed === "*** End Patch" || trimmed === "*** Begin Patch") {
    return `${shown} is inside the patch: one call takes one patch, from one '*** Begin Patch' to one '*** End Patch'`;
  }
  if (trimmed === "") return `an empty line is no file operation. In a new file each line begins with '+'. ${HEADERS}`;
  return `${shown} is not a hunk header, nor a line that may follow the previous one. ${HEADERS}`;
}

const HEADERS = "A file operation begins with '*** Add File: PATH', '*** Delete File: PATH' or '*** Update File: PATH'";

function fail(line: number, message: string): never {
  throw new PatchError({ message: `line ${line} of the patch: ${message}`, line });
}
