import { parseKeyPath } from "./key-path.js";

/** A position in a TOML text; lines and columns count from 1. */
export interface Place {
  line: number;
  column: number;
}

/** Keys from the top of a file; a number is an index into an array of tables (`[[x]]`), from 0. */
export type KeyPath = readonly (string | number)[];

/**
 * The place where a key is set, or of the nearest table or inline table around it. It works line by line, so a key inside a
 * multi-line value is reported at the first line of that value. Undefined when the key is not set.
 */
export function findKey(text: string, path: KeyPath): Place | undefined {
  let best: { depth: number; place: Place } | undefined;
  let table: KeyPath = [];
  const arrays = new TableArrays();
  let open: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (open !== undefined) {
      if (line.includes(open)) open = undefined;
      continue;
    }
    const found = readLine(line, table);
    if (found === undefined) continue;
    if (found.isTable) table = arrays.resolve(found.path, found.isArray);
    else open = openString(line);
    const depth = sharedDepth({ ...found, path: found.isTable ? table : found.path }, path);
    if (depth > (best?.depth ?? 0)) best = { depth, place: { line: index + 1, column: found.column } };
  }
  return best?.place;
}

/** Lengths of the arrays of tables so far, so that a header below one belongs to its last table. */
class TableArrays {
  readonly #lengths = new Map<string, number>();

  resolve(header: KeyPath, isArray: boolean): KeyPath {
    const path: (string | number)[] = [];
    for (const [index, part] of header.entries()) {
      path.push(part);
      const key = JSON.stringify(path);
      const length = this.#lengths.get(key) ?? 0;
      const isNew = isArray && index === header.length - 1;
      if (isNew) this.#lengths.set(key, length + 1);
      if (isNew) path.push(length);
      else if (length > 0) path.push(length - 1);
    }
    return path;
  }
}

interface KeyLine {
  path: KeyPath;
  isTable: boolean;
  /** `[[x]]` */
  isArray: boolean;
  column: number;
}

function readLine(line: string, table: KeyPath): KeyLine | undefined {
  const column = line.length - line.trimStart().length + 1;
  const header = /^\s*\[\[?(.*?)\]\]?\s*(?:#.*)?$/.exec(line)?.[1];
  if (header !== undefined) {
    const path = parseKeyPath(header);
    if (path !== undefined) return { path, isTable: true, isArray: /^\s*\[\[/.test(line), column };
  }
  const key = /^\s*((?:[A-Za-z0-9_.\s-]|"(?:[^"\\]|\\.)*"|'[^']*')+?)\s*=/.exec(line)?.[1];
  const path = key === undefined ? undefined : parseKeyPath(key);
  return path === undefined ? undefined : { path: [...table, ...path], isTable: false, isArray: false, column };
}

/** The closing quotes of a multi-line string that starts on this line and does not end on it. */
function openString(line: string): string | undefined {
  for (const quotes of ['"""', "'''"]) if (line.split(quotes).length % 2 === 0) return quotes;
  return undefined;
}

/** How many parts of `path` this line matches; 0 when it is another key. A path without numbers matches any table of an array. */
function sharedDepth({ path: exact, isTable }: KeyLine, path: KeyPath): number {
  const found = path.some((part) => typeof part === "number")
    ? exact
    : exact.filter((part) => typeof part === "string");
  const depth = Math.min(found.length, path.length);
  if (found.slice(0, depth).some((part, index) => part !== path[index])) return 0;
  // `[a.b]` implies the table `a`: nearly as good as `[a]` itself.
  if (found.length > path.length) return path.length - 0.5;
  return isTable ? depth - 0.25 : depth;
}
