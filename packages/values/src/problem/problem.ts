import type * as z from "zod/mini";

/** Values under these fields may be secrets: never shown. */
const SECRET_FIELDS: ReadonlySet<PropertyKey> = new Set([
  "env",
  "set",
  "input",
  "chunk",
  "arguments",
  "http_headers",
  "query_params",
]);

/** Maximum characters of a peer's text that a problem quotes. */
const MAX_SHOWN = 64;

/** Maximum number of member names that a problem quotes. */
const MAX_MEMBERS = 5;

/** The message of an issue whose schema has none. */
const NO_MESSAGE = "Invalid input";

/**
 * To be given to zod with every parse whose problems are formatted here: leaves zod's own messages out, which exist once
 * the host program imports `zod` or sets a locale.
 */
export const PARSE_CONTEXT = { error: () => NO_MESSAGE };

/**
 * One line that names the first field that is wrong, what is expected there, and what `value` has instead. Messages of the
 * schema are noun phrases. @param error of a parse with `PARSE_CONTEXT`.
 */
export const formatProblem = (error: z.core.$ZodError, value: unknown): string => formatFirst(error, value, false);

/**
 * The same for a schema that the author of a tool wrote: its messages are sentences, and short texts among the arguments
 * are shown, which a model has just written itself. @param error of a parse with `PARSE_CONTEXT`.
 */
export const formatArgumentProblem = (error: z.core.$ZodError, value: unknown): string =>
  formatFirst(error, value, true);

/** The first thing that is wrong with a value. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  /** `command[1]`, `env.PATH`, `env["a b"]`; empty for the value itself. */
  readonly name: string;
  /** Nothing is there. */
  readonly isMissing: boolean;
  /** `expected a string, got 7`: without what may be secret. */
  readonly text: string;
}

/**
 * What `formatProblem` formats, for messages of another form.
 * @param isToolSchema as of `formatArgumentProblem`
 */
export function findProblem(error: z.core.$ZodError, value: unknown, isToolSchema = false): Problem {
  const [first] = error.issues;
  if (first === undefined) return { path: [], name: "", isMissing: false, text: "invalid value" };
  const issue = deepest(first);
  const found = getAt(value, issue.path);
  const hasMessage = issue.message !== NO_MESSAGE;
  const rule =
    hasMessage && isToolSchema ? issue.message : `expected ${hasMessage ? issue.message : describeExpected(issue)}`;
  return {
    path: issue.path,
    name: formatPath(issue.path),
    isMissing: found === undefined && issue.path.length > 0,
    text: `${rule}, got ${describeFound(found, issue, isToolSchema)}`,
  };
}

function formatFirst(error: z.core.$ZodError, value: unknown, isToolSchema: boolean): string {
  const { name, isMissing, text } = findProblem(error, value, isToolSchema);
  const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
  if (isMissing) return `missing field \`${name}\`${more}`;
  return `${name === "" ? "" : `field \`${name}\`: `}${text}${more}`;
}

/** Of a union that did not match: the one problem within the intended branch, if that can be determined. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union") return issue;
  const meant = issue.errors.filter((branch) => branch.length > 0 && branch.every(({ path }) => path.length > 0));
  const inner = meant.length === 1 ? meant[0]![0] : undefined;
  return inner === undefined ? issue : { ...deepest(inner), path: [...issue.path, ...inner.path] };
}

function describeExpected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return TYPE_NAMES[issue.expected] ?? issue.expected;
    case "invalid_value":
      return formatChoice(issue.values);
    case "invalid_union":
      return "options" in issue && issue.options !== undefined ? formatChoice(issue.options) : "another value";
    case "too_small":
      return describeBound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
    case "too_big":
      return describeBound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum);
    case "unrecognized_keys":
      return `no member ${formatList(issue.keys)}`;
    case "invalid_format":
      return describeFormat(issue);
    case "not_multiple_of":
      return `a multiple of ${issue.divisor}`;
    default:
      return "another value";
  }
}

function describeFormat({ format, pattern, prefix, suffix, includes }: FormatIssue): string {
  if (prefix !== undefined) return `a string that starts with \`${show(prefix)}\``;
  if (suffix !== undefined) return `a string that ends with \`${show(suffix)}\``;
  if (includes !== undefined) return `a string with \`${show(includes)}\` in it`;
  return format === "regex" && pattern !== undefined
    ? `a string that matches ${pattern}`
    : `a string of format \`${format}\``;
}

/** The members that zod adds for some formats. */
type FormatIssue = Extract<z.core.$ZodIssue, { code: "invalid_format" }> & {
  prefix?: string;
  suffix?: string;
  includes?: string;
};

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
  null: "null",
};

function describeBound(origin: string, relation: string, bound: number | bigint): string {
  if (origin === "string") return bound === 1 ? "a non-empty string" : `${relation} ${bound} characters`;
  if (origin === "array") return bound === 1 ? "a non-empty array" : `${relation} ${bound} items`;
  return `${origin === "int" ? "an integer of " : ""}${relation} ${bound}`;
}

const formatChoice = (values: readonly unknown[]): string =>
  values.length === 1 ? formatList(values) : `one of ${formatList(values)}`;

const formatList = (values: readonly unknown[]): string =>
  values.map((value) => `\`${show(String(value))}\``).join(", ");

/** The kind of a value; the value itself only where it is short, and not secret. */
function describeFound(value: unknown, issue: z.core.$ZodIssue, showsText: boolean): string {
  const open = !issue.path.some((key) => SECRET_FIELDS.has(key));
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  const isChoice =
    issue.code === "invalid_value" || issue.code === "invalid_union" || issue.code === "unrecognized_keys";
  if (typeof value === "object") return open && isChoice ? describeMembers(Object.keys(value)) : "an object";
  if (value === "") return "an empty string";
  if (open && (showsText || typeof value !== "string" || isChoice)) return show(JSON.stringify(value) ?? String(value));
  return `a ${typeof value}`;
}

function describeMembers(names: readonly string[]): string {
  if (names.length === 0) return "an empty object";
  return `an object with ${formatList(names.slice(0, MAX_MEMBERS))}${names.length > MAX_MEMBERS ? " and more" : ""}`;
}

const show = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** `command[1]`, `env.PATH`, `env["a b"]`. */
function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (!/^[\w$-]+$/.test(String(key))) text += `[${JSON.stringify(show(String(key)))}]`;
    else text += text === "" ? show(String(key)) : `.${show(String(key))}`;
  }
  return text;
}

function getAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}
