import type { TomlTable } from "@codex/toml";

export const isTable = (value: unknown): value is TomlTable =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Merges two tables, nested tables included; other values of `over` replace those of `under`. */
export function mergeTables(under: TomlTable, over: TomlTable): TomlTable {
  const merged: TomlTable = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const before = Object.hasOwn(merged, key) ? merged[key] : undefined;
    const both = isTable(before) && isTable(value) ? mergeTables(before, value) : value;
    Object.defineProperty(merged, key, { value: both, enumerable: true, configurable: true, writable: true });
  }
  return merged;
}

/** Whether the table has a value at this path. */
export const hasPath = (table: TomlTable, [first, ...rest]: readonly string[]): boolean => {
  if (first === undefined) return true;
  if (!Object.hasOwn(table, first)) return false;
  const inner = table[first];
  return rest.length === 0 || (isTable(inner) && hasPath(inner, rest));
};
