import { parseKeyPath } from "./key-path.js";

/** A position in a TOML text; lines and columns count from 1. */
export interface Place {
  line: number;
  column: number;
}

/** Names of keys from the top of a file; a number is a position in a list of tables (`[[x]]`), from 0. */
export type KeyPath = readonly (string | number)[];

/**
 * Where a key is set, or the nearest table or inline table around it. It reads lines, so a key inside a value of several
 * lines is reported at the beginning of that value. Undefined when the key is not set.
 */
export function findKey(text: string, path: KeyPath): Place | undefined {
  let best: { depth: number; place: Place } | undefined;
  let table: KeyPath = [];
  const lists = new TableLists();
  let open: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (open !== undefined) {
      if (line.includes(open)) open = undefined;
      continue;
    }
    const found = readLine(line, table);
    if (found === undefined) continue;
    if (found.isTable) table = lists.resolve(found.path, found.isList);
    else open = openString(line);
    const depth = sharedDepth({ ...found, path: found.isTable ? table : found.path }, path);
    if (depth > (best?.depth ?? 0)) best = { depth, place: { line: index + 1, column: found.column } };
  }
  return best?.place;
}

/** Lists of tables that were begun, so that a header below one belongs to its last table. */
class TableLists {
  readonly #lengths = new Map<string, number>();

  resolve(header: KeyPath, isList: boolean): KeyPath {
    const path: (string | number)[] = [];
    for (const [index, part] of header.entries()) {
      path.push(part);
      const key = JSON.stringify(path);
      const length = this.#lengths.get(key) ?? 0;
      const isNew = isList && index === header.length - 1;
      if (isNew) this.#lengths.set(key, length + 1);
      if (isNew) path.push(length);
      else if (length > 0) path.push(length - 1);
    }
    return path;
  }
}

interface Found {
  path: KeyPath;
  isTable: boolean;
  /** `[[x]]` */
  isList: boolean;
  column: number;
}

function readLine(line: string, table: KeyPath): Found | undefined {
  const column = line.length - line.trimStart().length + 1;
  const header = /^\s*\[\[?(.*?)\]\]?\s*(?:#.*)?$/.exec(line)?.[1];
  if (header !== undefined) {
    const path = parseKeyPath(header);
    if (path !== undefined) return { path, isTable: true, isList: /^\s*\[\[/.test(line), column };
  }
  const key = /^\s*((?:[A-Za-z0-9_.\s-]|"(?:[^"\\]|\\.)*"|'[^']*')+?)\s*=/.exec(line)?.[1];
  const path = key === undefined ? undefined : parseKeyPath(key);
  return path === undefined ? undefined : { path: [...table, ...path], isTable: false, isList: false, column };
}

/** The closing quotes of a multi-line string that begins on this line and does not end on it. */
function openString(line: string): string | undefined {
  for (const quotes of ['"""', "'''"]) if (line.split(quotes).length % 2 === 0) return quotes;
  return undefined;
}

/** How many parts of the path this line names; 0 when it names another key. Who asks without numbers means any table of a list. */
function sharedDepth({ path: exact, isTable }: Found, path: KeyPath): number {
  const found = path.some((part) => typeof part === "number")
    ? exact
    : exact.filter((part) => typeof part === "string");
  const depth = Math.min(found.length, path.length);
  if (found.slice(0, depth).some((part, index) => part !== path[index])) return 0;
  // A table below the wanted key is as near as a line gets: `[a.b]` for `a`.
  if (found.length > path.length) return path.length - 0.5;
  return isTable ? depth - 0.25 : depth;
}
