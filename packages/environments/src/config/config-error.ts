import type { Place } from "@codex/toml";
import { defined } from "@codex/values";

/** A problem in a configuration of environments and its location, without secrets. */
export interface ConfigProblem {
  /** Path of the file; undefined for an environment variable. */
  readonly file?: string;
  /** Counts from 1. */
  readonly line?: number;
  /** Dotted, such as `environments.url`, or the name of a variable. */
  readonly key?: string;
  /** The value, without secrets; undefined if there is none. */
  readonly value?: string;
  /** What is expected. */
  readonly rule: string;
}

/** An invalid configuration of environments: nothing is started. The message contains all of `problem`. */
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

/** Characters of a value quoted in an error. */
const MAX_SHOWN = 100;

/** A value as shown in an error: URLs without user, password, query and fragment. */
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

/** Removes every part of a URL that may be secret. */
export const withoutUrlSecrets = (url: string): string =>
  url.replace(/^(\s*[a-z][a-z0-9+.-]*:\/\/)([^/?#]*@)?([^?#]*).*$/is, "$1$3");

const cut = (text: string): string => (text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`);

/** A table of a TOML file and its location, for errors. */
export interface Section {
  readonly file: string;
  readonly table: Readonly<Record<string, unknown>>;
  /** Path from the root of the file; a number is an index in an array of tables. */
  readonly path: readonly (string | number)[];
  findPlace(path: readonly (string | number)[]): Place | undefined;
}

/** Creates the error for a key of a section, or for the section itself. */
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
    ...defined({ line }),
    ...(name === "" ? {} : { key: name }),
    ...defined({ value }),
    rule,
  });
}
