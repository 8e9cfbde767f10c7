import { readKeyPath, skipBlanks } from "./key-path.js";

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
 * a multi-line value is reported at the first line of that value. The text is read once, when the first key is searched for.
 */
export function createKeyFinder(text: string): FindKey {
  let trees: KeyTrees | undefined;
  return (path) => {
    trees ??= readKeys(text);
    const inArray = path.some((part) => typeof part === "number");
    return (inArray ? trees.exact : trees.anywhere).find(path);
  };
}

interface KeyTrees {
  exact: KeyNode;
  /** Without the positions in arrays: such a path means any table of an array. */
  anywhere: KeyNode;
}

function readKeys(text: string): KeyTrees {
  const top: KeyTrees = { exact: new KeyNode(), anywhere: new KeyNode() };
  const hasLongTexts = QUOTES.some((quotes) => text.includes(quotes));
  let table = top;
  let open: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (open !== undefined) {
      if (line.includes(open)) open = undefined;
      continue;
    }
    const found = readLine(line);
    if (found === undefined) continue;
    const { kind, path } = found;
    const place = { line: index + 1, column: found.column };
    if (kind === "value") {
      table.exact.add(path, kind, place);
      table.anywhere.add(path, kind, place);
      if (hasLongTexts) open = findOpenText(line);
    } else {
      const exact = top.exact.add(top.exact.resolve(path, kind === "array"), "header", place);
      table = { exact, anywhere: top.anywhere.add(path, "header", place) };
    }
  }
  return top;
}

/** The places of a key, or of the table of this name, and the keys below it. */
class KeyNode {
  /** The first line that sets it. */
  value?: Place;
  /** Its first header. */
  header?: Place;
  /** The first line that only implies it: `[a.b]` the table `a`. */
  implied?: Place;
  /** How many tables it has so far, where it is an array of tables. */
  #tables = 0;
  #below?: Map<string | number, KeyNode>;

  /** @returns the node of the path */
  add(path: KeyPath, kind: "value" | "header", place: Place): KeyNode {
    let node: KeyNode = this;
    for (const part of path) {
      if (node !== this) node.implied ??= place;
      node = node.#open(part);
    }
    node[kind] ??= place;
    return node;
  }

  /** The path of a header with positions: below an array of tables it belongs to the last one, and may begin a new one. */
  resolve(header: readonly string[], isArray: boolean): KeyPath {
    let node: KeyNode = this;
    const path: (string | number)[] = [];
    for (const [index, part] of header.entries()) {
      node = node.#open(part);
      path.push(part);
      if (isArray && index === header.length - 1) node.#tables += 1;
      if (node.#tables === 0) continue;
      path.push(node.#tables - 1);
      node = node.#open(node.#tables - 1);
    }
    return path;
  }

  find(path: KeyPath): Place | undefined {
    let node: KeyNode | undefined = this;
    let found: Place | undefined;
    for (const part of path) {
      node = node.#below?.get(part);
      if (node === undefined) return found;
      found = node.value ?? node.header ?? found;
    }
    // `[a.b]` implies the table `a`: nearly as good as `[a]` itself.
    return node.value ?? node.header ?? node.implied ?? found;
  }

  #open(part: string | number): KeyNode {
    this.#below ??= new Map();
    const known = this.#below.get(part);
    if (known !== undefined) return known;
    const node = new KeyNode();
    this.#below.set(part, node);
    return node;
  }
}

interface KeyLine {
  /** `[x]`, `[[x]]` or `x = …` */
  kind: "table" | "array" | "value";
  /** Below the table that it is in, for a value. */
  path: string[];
  column: number;
}

function readLine(line: string): KeyLine | undefined {
  const start = skipBlanks(line, 0);
  const brackets = line[start] !== "[" ? 0 : line[start + 1] === "[" ? 2 : 1;
  const found = readKeyPath(line, start + brackets);
  if (found === undefined) return undefined;
  const { parts: path, end } = found;
  const column = start + 1;
  if (brackets === 0) return line[end] === "=" ? { kind: "value", path, column } : undefined;
  // A list in a value of several lines has commas.
  const rest = line.slice(end).trim();
  if (!rest.startsWith("]".repeat(brackets))) return undefined;
  const behind = rest.slice(brackets).trimStart();
  return behind === "" || behind.startsWith("#")
    ? { kind: brackets === 2 ? "array" : "table", path, column }
    : undefined;
}

const QUOTES = ['"""', "'''"];

/** The closing quotes of a multi-line string that starts on this line and does not end on it. */
const findOpenText = (line: string): string | undefined => QUOTES.find((quotes) => line.split(quotes).length % 2 === 0);
