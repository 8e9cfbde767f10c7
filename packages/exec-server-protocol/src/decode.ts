import { RpcError } from "@codex/channel";
import type * as z from "zod/mini";
import { safeParse } from "zod/mini";
import { ERROR_CODES } from "./methods.js";

/**
 * The params of a request by their schema.
 * @throws RpcError -32602 that names the member; a schema may set another code with `params.rpcCode` of its issue
 */
export function decodeParams<Schema extends z.ZodMiniType>(
  schema: () => Schema,
  params: unknown,
  structName: string,
): z.output<Schema> {
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    throw new RpcError(ERROR_CODES.invalidParams, `invalid type: ${describe(params)}, expected struct ${structName}`);
  }
  const result = safeParse(schema(), params, { reportInput: true });
  if (result.success) return result.data;
  // A member of the wrong type is reported before a missing one.
  const issue = result.error.issues.find((candidate) => !isMissing(candidate)) ?? result.error.issues[0]!;
  throw new RpcError(codeOf(issue), messageOf(issue));
}

/** Creates a value on first use: creating all schemas at start would cost more than everything else together. */
export function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The params of a request that has none: absent, null or `{}`. @throws RpcError -32602 */
export function decodeNoParams(params: unknown): void {
  if (params === undefined || params === null) return;
  if (typeof params === "object" && !Array.isArray(params) && Object.keys(params).length === 0) return;
  throw new RpcError(ERROR_CODES.invalidParams, `invalid type: ${describe(params)}, expected unit`);
}

type Issue = z.core.$ZodIssue;

const isMissing = (issue: Issue): boolean => issue.code !== "custom" && issue.input === undefined;

function codeOf(issue: Issue): number {
  const code: unknown = issue.code === "custom" ? issue.params?.rpcCode : undefined;
  return typeof code === "number" ? code : ERROR_CODES.invalidParams;
}

function messageOf(issue: Issue): string {
  const problem = problemOf(issue);
  const within = isMissing(issue) ? issue.path.slice(0, -1) : issue.path;
  return within.length === 0 ? problem : `${problem} (in \`${within.map(String).join(".")}\`)`;
}

function problemOf(issue: Issue): string {
  if (issue.code === "custom") return issue.message;
  if (isMissing(issue)) return `missing field \`${String(issue.path.at(-1))}\``;
  const { input } = issue;
  if (issue.code === "invalid_value" && typeof input === "string") {
    return `unknown variant \`${shorten(input)}\`, expected ${oneOf(issue.values)}`;
  }
  if (issue.code === "invalid_union" && issue.discriminator !== undefined)
    return unionProblem(issue.discriminator, input);
  if (issue.code === "too_small" && typeof input === "string") return "must not be empty";
  if (typeof input === "number" && isNumeric(issue)) return "invalid number";
  return `invalid type: ${describe(input)}, expected ${expectedOf(issue)}`;
}

const isNumeric = (issue: Issue): boolean =>
  issue.code === "too_small" ||
  issue.code === "too_big" ||
  (issue.code === "invalid_type" && (issue.expected === "int" || issue.expected === "number"));

function unionProblem(discriminator: string, input: unknown): string {
  const tag: unknown = typeof input === "object" && input !== null ? Reflect.get(input, discriminator) : undefined;
  if (tag === undefined) return `missing field \`${discriminator}\``;
  return typeof tag === "string"
    ? `unknown variant \`${shorten(tag)}\``
    : `invalid type: ${describe(tag)}, expected a string`;
}

function oneOf(values: readonly unknown[]): string {
  const names = values.map((value) => `\`${String(value)}\``);
  return names.length > 2 ? `one of ${names.join(", ")}` : names.join(" or ");
}

function expectedOf(issue: Issue): string {
  if (issue.code !== "invalid_type") return "string or map";
  switch (issue.expected) {
    case "string":
      return "a string";
    case "boolean":
      return "a boolean";
    case "number":
    case "int":
      return "u64";
    case "array":
      return "a sequence";
    default:
      return "a map";
  }
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return "null";
  if (typeof value === "string") return `string ${JSON.stringify(shorten(value))}`;
  if (typeof value === "boolean") return `boolean \`${value}\``;
  if (typeof value === "number") return "number";
  return Array.isArray(value) ? "sequence" : "map";
}

/** Characters of a received text that an error quotes. */
const MAX_QUOTED = 64;

const shorten = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
