import { MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH } from "../limits.js";
import { withoutControls } from "./text.js";

/** Why an argument schema cannot be used; undefined if it can. */
export function findSchemaProblem(schema: unknown): string | undefined {
  if (isDeeper(schema, MAX_SCHEMA_DEPTH)) return `its inputSchema is nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MAX_SCHEMA_BYTES) return `its inputSchema has ${bytes} bytes (limit ${MAX_SCHEMA_BYTES} bytes)`;
  return undefined;
}

/** A copy without control characters in descriptions and titles, and without `$schema`. */
export function cleanSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(schema).filter(([key]) => key !== "$schema");
  return Object.fromEntries(entries.map(([key, value]) => [key, clean(key, value)]));
}

function clean(key: string, value: unknown): unknown {
  if (typeof value === "string") return PROSE_KEYS.has(key) ? withoutControls(value) : value;
  if (Array.isArray(value)) return value.map((item) => clean("", item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clean(name, member)]));
}

/** Members that are prose, not values to compare with. */
const PROSE_KEYS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
