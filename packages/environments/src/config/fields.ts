import { createProblem, type Section, showType, showValue } from "./config-error.js";

// Reads members of a section. Undefined where there is none; throws EnvironmentsConfigError for one of another type.

/** @param isSecret the value is not shown */
export function readText(section: Section, key: string, isSecret = false): string | undefined {
  const value = section.table[key];
  if (value === undefined || typeof value === "string") return value;
  throw createProblem(section, key, "expected a text in quotes", isSecret ? showType(value) : showValue(value));
}

export function readFlag(section: Section, key: string): boolean | undefined {
  const value = section.table[key];
  if (value === undefined || typeof value === "boolean") return value;
  throw createProblem(section, key, "expected true or false", showValue(value));
}

/** Elements may be secrets, and are not shown. */
export function readTexts(section: Section, key: string): readonly string[] | undefined {
  const value = section.table[key];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw createProblem(section, key, "expected a list of texts", showType(value));
  const wrong = value.findIndex((each) => typeof each !== "string");
  if (wrong === -1) return value.map(String);
  const shown = `a list whose element ${wrong + 1} is ${showType(value[wrong])}`;
  throw createProblem(section, key, "expected a list of texts", shown);
}

/** Values may be secrets, and are not shown. */
export function readTextTable(section: Section, key: string): Readonly<Record<string, string>> | undefined {
  const table = readTable(section, key);
  if (table === undefined) return undefined;
  for (const [name, value] of Object.entries(table)) {
    if (typeof value === "string") continue;
    throw createProblem(section, key, "expected a table of texts", `a table whose \`${name}\` is ${showType(value)}`);
  }
  return table as Readonly<Record<string, string>>; // every value was looked at
}

export function readTable(section: Section, key: string): Readonly<Record<string, unknown>> | undefined {
  const value = section.table[key];
  if (value === undefined) return undefined;
  if (isTable(value)) return value;
  throw createProblem(section, key, "expected a table", showType(value));
}

/** Seconds, as milliseconds. */
export function readSeconds(section: Section, key: string): number | undefined {
  const value = section.table[key];
  if (value === undefined) return undefined;
  const rule = "expected seconds: a number of at least 0 and below 2^64";
  if (typeof value !== "number" && typeof value !== "bigint") throw createProblem(section, key, rule, showValue(value));
  const seconds = Number(value);
  if (!(seconds >= 0 && seconds < 2 ** 64)) throw createProblem(section, key, rule, showValue(value));
  return seconds * 1000;
}

/** @throws EnvironmentsConfigError for a key that is not among them; `elsewhere` says where some belong */
export function refuseUnknown(
  section: Section,
  known: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  for (const key of Object.keys(section.table)) {
    if (known.includes(key)) continue;
    const names = known.map((name) => `\`${name}\``).join(", ");
    throw createProblem(section, key, elsewhere[key] ?? `is not a key here; the keys are ${names}`);
  }
}

export const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** What Codex takes for blanks at the ends of a value: Unicode's White_Space, which is not quite that of `trim`. */
export const trimBlanks = (text: string): string => text.replace(BLANKS, "");

const BLANK = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const BLANKS = new RegExp(`^${BLANK}+|${BLANK}+$`, "g");
