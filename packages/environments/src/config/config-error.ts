import type { Place } from "@codex/toml";

/** What is wrong with a configuration of environments, and where. Holds no secret. */
export interface ConfigProblem {
  /** Path of the file; undefined for a variable. */
  readonly file?: string;
  /** Counts from 1. */
  readonly line?: number;
  /** Dotted, such as `environments.url`, or the name of a variable. */
  readonly key?: string;
  /** As it may be shown; undefined where there is none. */
  readonly value?: string;
  /** What is expected. */
  readonly rule: string;
}

/** A configuration of environments that cannot be used: nothing is started for it. The message says all of `problem`. */
export class EnvironmentsConfigError extends Error {
  override readonly name = "EnvironmentsConfigError";
  constructor(
    readonly problem: ConfigProblem,
    options?: ErrorOptions,
  ) {
    super(describeProblem(problem), options);
  }
}

function describeProblem({ file, line, key, value, rule }: ConfigProblem): string {
  const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}: `;
  if (key === undefined) return `${place}${rule}`;
  return `${place}\`${key}\`${value === undefined ? "" : ` is ${value}`}${value === undefined ? " " : "; "}${rule}`;
}

/** Characters of a value that an error shows. */
const MAX_SHOWN = 100;

/** A value as an error shows it: of a URL neither user, password, query nor fragment. */
export function showValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(cut(withoutUrlSecrets(value)));
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  return showType(value);
}

/** The type of a value that may be a secret. */
export function showType(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  return typeof value === "object" ? "a table" : `a ${typeof value === "bigint" ? "number" : typeof value}`;
}

/** Everything of a URL that may be a secret is left out. */
export const withoutUrlSecrets = (url: string): string =>
  url.replace(/^(\s*[a-z][a-z0-9+.-]*:\/\/)([^/?#]*@)?([^?#]*).*$/is, "$1$3");

const cut = (text: string): string => (text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`);

/** A table of a TOML file, with what an error about it needs. */
export interface Section {
  readonly file: string;
  readonly table: Readonly<Record<string, unknown>>;
  /** From the top of the file; a number is the position in a list of tables. */
  readonly path: readonly (string | number)[];
  findPlace(path: readonly (string | number)[]): Place | undefined;
}

/** The error about a key of a section, or about the section itself. */
export function createProblem(
  { file, path, findPlace }: Section,
  key: string | undefined,
  rule: string,
  value?: string,
): EnvironmentsConfigError {
  const at = key === undefined ? path : [...path, key];
  const line = findPlace(at)?.line;
  const name = at.filter((part) => typeof part === "string").join(".");
  return new EnvironmentsConfigError({
    file,
    ...(line === undefined ? {} : { line }),
    ...(name === "" ? {} : { key: name }),
    ...(value === undefined ? {} : { value }),
    rule,
  });
}
