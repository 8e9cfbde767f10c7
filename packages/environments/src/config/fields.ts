import { createProblem, type Section, showType, showValue } from "./config-error.js";

// Readers for members of a section. They return undefined if it is absent and throw EnvironmentsConfigError for a wrong type.

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

/** Elements may be secret and are not shown. */
export function readTexts(section: Section, key: string): readonly string[] | undefined {
  const value = section.table[key];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw createProblem(section, key, "expected a list of texts", showType(value));
  const wrong = value.findIndex((each) => typeof each !== "string");
  if (wrong === -1) return value.map(String);
  const shown = `a list whose element ${wrong + 1} is ${showType(value[wrong])}`;
  throw createProblem(section, key, "expected a list of texts", shown);
}

/** Values may be secret and are not shown. */
export function readTextTable(section: Section, key: string): Readonly<Record<string, string>> | undefined {
  const table = readTable(section, key);
  if (table === undefined) return undefined;
  for (const [name, value] of Object.entries(table)) {
    if (typeof value === "string") continue;
    throw createProblem(section, key, "expected a table of texts", `a table whose \`${name}\` is ${showType(value)}`);
  }
  return table as Readonly<Record<string, string>>; // every value was checked
}

export function readTable(section: Section, key: string): Readonly<Record<string, unknown>> | undefined {
  const value = section.table[key];
  if (value === undefined) return undefined;
  if (isTable(value)) return value;
  throw createProblem(section, key, "expected a table", showType(value));
}

/** Reads seconds; returns milliseconds. */
export function readSeconds(section: Section, key: string): number | undefined {
  const value = section.table[key];
  if (value === undefined) return undefined;
  const rule = "expected seconds: a number of at least 0 and below 2^64";
  if (typeof value !== "number" && typeof value !== "bigint") throw createProblem(section, key, rule, showValue(value));
  const seconds = Number(value);
  if (!(seconds >= 0 && seconds < 2 ** 64)) throw createProblem(section, key, rule, showValue(value));
  return seconds * 1000;
}

/** @throws EnvironmentsConfigError for an unknown key; `elsewhere` has the text for keys that belong elsewhere */
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

/** Trims as Codex does: Unicode's White_Space, which differs slightly from `String.trim`. */
export const trimBlanks = (text: string): string =>
  isVisible(text.charCodeAt(0)) && isVisible(text.charCodeAt(text.length - 1)) ? text : text.replace(BLANKS, "");

/** A visible ASCII character. Most texts begin and end with one, which saves compiling a regular expression at startup. */
const isVisible = (code: number): boolean => code > 0x20 && code < 0x7f;

const BLANK = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const BLANKS = new RegExp(`^${BLANK}+|(?<!${BLANK})${BLANK}+$`, "g");
