import { parseKeyPath } from "./key-path.js";

/** A position in a TOML text; lines and columns count from 1. */
export interface Place {
  line: number;
  column: number;
}

/** Keys from the top of a file; a number is an index into an array of tables (`[[x]]`), from 0. */
export type KeyPath = readonly (string | number)[];

/** Finds the place of a key; undefined when it is not set. */
export type FindKey = (path: KeyPath) => Place | undefined;

/**
 * Finds the places where keys are set, or of the nearest table or inline table around them. It works line by line, so a key inside
 * a multi-line value is reported at the first line of that value. The text is read once, at the first key that is looked for.
 */
export function createKeyFinder(text: string): FindKey {
  let lines: KeyLines | undefined;
  return (path) => {
    lines ??= new KeyLines(text);
    return lines.find(path);
  };
}

/** What is known of a key, or of the table of this name. */
interface KeyPlaces {
  /** The first line that sets it. */
  value?: Place;
  /** Its first header. */
  header?: Place;
  /** The first line that only implies it: `[a.b]` the table `a`. */
  implied?: Place;
}

class KeyLines {
  readonly #exact = new Map<string, KeyPlaces>();
  /** Without the positions in arrays: such a path means any table of an array. */
  readonly #anywhere = new Map<string, KeyPlaces>();

  constructor(text: string) {
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
      const path = found.isTable ? table : found.path;
      const kind = found.isTable ? "header" : "value";
      const place = { line: index + 1, column: found.column };
      add(this.#exact, path, kind, place);
      add(this.#anywhere, withoutPositions(path), kind, place);
    }
  }

  find(path: KeyPath): Place | undefined {
    const places = path.some((part) => typeof part === "number") ? this.#exact : this.#anywhere;
    for (let length = path.length; length > 0; length -= 1) {
      const known = places.get(keyOf(path, length));
      const own = known?.value ?? known?.header;
      // `[a.b]` implies the table `a`: nearly as good as `[a]` itself.
      const found = length === path.length ? (own ?? known?.implied) : own;
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function add(places: Map<string, KeyPlaces>, path: KeyPath, kind: "value" | "header", place: Place): void {
  for (let length = 1; length <= path.length; length += 1) {
    const key = keyOf(path, length);
    const known = places.get(key);
    const name = length === path.length ? kind : "implied";
    if (known === undefined) places.set(key, { [name]: place });
    else known[name] ??= place;
  }
}

const withoutPositions = (path: KeyPath): KeyPath => path.filter((part) => typeof part === "string");

const keyOf = (path: KeyPath, length: number): string => JSON.stringify(path.slice(0, length));

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
