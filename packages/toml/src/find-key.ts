import { parseKeyPath } from "./key-path.js";

/** A position in a TOML text; lines and columns count from 1. */
export interface Place {
  line: number;
  column: number;
}

/**
 * Where a key is set, or the nearest table or inline table around it. It reads lines, so a key inside a value of several
 * lines is reported at the beginning of that value. Undefined when the key is not set.
 */
export function findKey(text: string, path: readonly string[]): Place | undefined {
  let best: { depth: number; place: Place } | undefined;
  let table: readonly string[] = [];
  let open: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (open !== undefined) {
      if (line.includes(open)) open = undefined;
      continue;
    }
    const found = readLine(line, table);
    if (found === undefined) continue;
    if (found.isTable) table = found.path;
    else open = openString(line);
    const depth = sharedDepth(found, path);
    if (depth > (best?.depth ?? 0)) best = { depth, place: { line: index + 1, column: found.column } };
  }
  return best?.place;
}

interface Found {
  path: readonly string[];
  isTable: boolean;
  column: number;
}

function readLine(line: string, table: readonly string[]): Found | undefined {
  const column = line.length - line.trimStart().length + 1;
  const header = /^\s*\[\[?(.*?)\]\]?\s*(?:#.*)?$/.exec(line)?.[1];
  if (header !== undefined) {
    const path = parseKeyPath(header);
    if (path !== undefined) return { path, isTable: true, column };
  }
  const key = /^\s*((?:[A-Za-z0-9_.\s-]|"(?:[^"\\]|\\.)*"|'[^']*')+?)\s*=/.exec(line)?.[1];
  const path = key === undefined ? undefined : parseKeyPath(key);
  return path === undefined ? undefined : { path: [...table, ...path], isTable: false, column };
}

/** The closing quotes of a multi-line string that begins on this line and does not end on it. */
function openString(line: string): string | undefined {
  for (const quotes of ['"""', "'''"]) if (line.split(quotes).length % 2 === 0) return quotes;
  return undefined;
}

/** How many parts of the path this line names; 0 when it names another key. */
function sharedDepth({ path: found, isTable }: Found, path: readonly string[]): number {
  const depth = Math.min(found.length, path.length);
  if (found.slice(0, depth).some((part, index) => part !== path[index])) return 0;
  // A table below the wanted key is as near as a line gets: `[a.b]` for `a`.
  if (found.length > path.length) return path.length - 0.5;
  return isTable ? depth - 0.25 : depth;
}
