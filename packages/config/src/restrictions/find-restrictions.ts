import type { TomlTable } from "@codex/toml";
import { isTable } from "../tables.js";
import { isFilled, type KeyRow } from "./key-row.js";

/** A table of keys, arranged for lookup. */
export interface KeyTable {
  readonly rows: readonly KeyRow[];
  readonly root: KeyNode;
}

interface KeyNode {
  row: KeyRow | undefined;
  readonly below: Map<string, KeyNode>;
}

/** A key that restricts and is refused. */
export interface Restriction {
  readonly path: readonly string[];
  readonly row: Extract<KeyRow, { here: "refused" }>;
}

export function createKeyTable(rows: readonly KeyRow[]): KeyTable {
  const root: KeyNode = { row: undefined, below: new Map() };
  for (const row of rows) {
    let node = root;
    for (const part of splitKey(row.key)) {
      const next = node.below.get(part) ?? { row: undefined, below: new Map() };
      node.below.set(part, next);
      node = next;
    }
    node.row = row;
  }
  return { rows, root };
}

/** The row of a key, which may be that of a table around it; `table` where only keys below it have rows. */
export function findRow({ root }: KeyTable, path: readonly string[]): KeyRow | "table" | undefined {
  let node: KeyNode = root;
  let row: KeyRow | undefined;
  for (const part of path) {
    const next = step(node, part);
    if (next === undefined) return row;
    node = next;
    row = node.row ?? row;
  }
  return row ?? (node.below.size > 0 ? "table" : undefined);
}

/** The keys of this table that restrict and are refused, and those that have no row. */
export function findRestrictions(
  table: KeyTable,
  settings: TomlTable,
): { refused: Restriction[]; unknown: readonly string[][] } {
  const refused: Restriction[] = [];
  const unknown: string[][] = [];
  const visit = (node: KeyNode, path: string[], value: unknown, covered: boolean): void => {
    const { row } = node;
    if (row?.here === "refused" && (row.restricts ?? isFilled)(value, settings)) refused.push({ path, row });
    if (!isTable(value) && row === undefined && !covered) unknown.push(path);
    if (node.below.size === 0 || !isTable(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const next = step(node, name);
      const isCovered = covered || row !== undefined;
      if (next !== undefined) visit(next, [...path, name], inner, isCovered);
      else if (!isCovered) unknown.push([...path, name]);
    }
  };
  visit(table.root, [], settings, false);
  return { refused, unknown };
}

const step = (node: KeyNode, part: string): KeyNode | undefined => node.below.get(part) ?? node.below.get("*");

/** The parts of a row's name, of which a quoted one may contain dots. */
const splitKey = (key: string): string[] =>
  (key.match(/"[^"]*"|[^.]+/g) ?? []).map((part) => part.replace(/^"|"$/g, ""));
