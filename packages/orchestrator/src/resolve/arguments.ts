import { messageOf } from "@codex/values";
import { findProblem, PARSE_CONTEXT } from "@codex/values/problem";
import * as z from "zod/mini";
import { isObject } from "../json.js";
import { type Resolved, rejected } from "./resolved.js";
import { describeMissing } from "./unknown-fields.js";

/** A model's arguments as an object: an object as it is, or its JSON text. */
export function parseArguments(args: unknown, limitBytes: number): Resolved<Record<string, unknown>> {
  if (args === undefined || args === null || args === "") return { kind: "ok", value: {} };
  if (typeof args !== "string") return asObject(args);
  const bytes = Buffer.byteLength(args);
  if (bytes > limitBytes) return rejected("", `the arguments have ${bytes} bytes (limit ${limitBytes} bytes)`);
  try {
    return asObject(JSON.parse(args));
  } catch (error) {
    return rejected("", `expected a JSON object, got text that is not JSON (${messageOf(error)})`);
  }
}

const asObject = (value: unknown): Resolved<Record<string, unknown>> =>
  isObject(value) ? { kind: "ok", value } : rejected("", `expected a JSON object, got ${describe(value)}`);

/** Validates arguments with a schema. Unknown keys are dropped; the problem names the first invalid field, and suggests a correction. */
export function readArguments<S extends z.ZodMiniObject>(
  schema: S,
  args: Record<string, unknown>,
): Resolved<z.infer<S>> {
  const result = z.safeParse(schema, args, PARSE_CONTEXT);
  if (result.success) return { kind: "ok", value: result.data };
  const { path, name, isMissing, text } = findProblem(result.error, args, true);
  const slip = isMissing ? findSlip(path, args, Object.keys(schema.shape)) : undefined;
  return rejected(name, slip === undefined ? text : `${text} (${slip})`);
}

function findSlip(path: readonly PropertyKey[], args: Record<string, unknown>, known: readonly string[]) {
  const around = path.slice(0, -1).reduce<unknown>((value, key) => memberOf(value, key), args);
  return isObject(around)
    ? describeMissing(String(path.at(-1)), around, path.length === 1 ? known : undefined)
    : undefined;
}

const memberOf = (value: unknown, key: PropertyKey): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  const shown = JSON.stringify(value);
  return shown.length <= SHOWN_CHARACTERS ? shown : `a ${typeof value}`;
}

/** Longer values are not shown to the model. */
const SHOWN_CHARACTERS = 60;
