import type { LearnedTool } from "@codex/executor-client";
import { distance } from "fastest-levenshtein";
import { ENVIRONMENT_ID } from "../catalog/catalog.js";
import { isObject } from "../json.js";
import { type Rejected, rejected } from "./resolved.js";

/** Maximum edit distance of a suggested name, in inserted, missing or replaced letters. */
const MAX_DISTANCE = 3;
/** Unknown fields that are named, and characters of a name that are shown. */
const MAX_NAMED = 5;
const NAME_SHOWN_CHARACTERS = 60;

/** A notice for the model about each unknown field. @param onlySlips only for those that resemble a known name */
export function describeUnknownFields(
  args: Readonly<Record<string, unknown>>,
  names: readonly string[],
  onlySlips = false,
): string[] {
  const known = [...names, ENVIRONMENT_ID];
  const free = known.filter((name) => args[name] === undefined);
  return Object.keys(args)
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, meant: findMeant(name, free) }))
    .filter(({ meant }) => !onlySlips || meant !== undefined)
    .slice(0, MAX_NAMED)
    .map(({ name, meant }) => {
      const hint = meant === undefined ? "" : `; did you mean \`${meant}\`?`;
      return `there is no field \`${shown(name)}\`, it was ignored${hint}`;
    });
}

/** The same for a tool that gets a model's arguments unchanged: some accept more than they declare. */
export const describeSlips = (args: Readonly<Record<string, unknown>>, { inputSchema }: LearnedTool): string[] =>
  describeUnknownFields(args, namesOf(inputSchema), true);

/** A required field of such a tool that was given under a similar name. */
export function findMisspelt(
  args: Readonly<Record<string, unknown>>,
  { inputSchema }: LearnedTool,
): Rejected | undefined {
  const known = namesOf(inputSchema);
  const required: unknown[] = Array.isArray(inputSchema.required) ? inputSchema.required : [];
  for (const name of required) {
    if (typeof name !== "string" || args[name] !== undefined) continue;
    const unknown = Object.keys(args).find((given) => !known.includes(given) && isLike(given, name));
    if (unknown !== undefined) return rejected(name, `it is missing (${describeSlip(unknown, name)})`);
  }
  return undefined;
}

/** The unknown field that was probably given instead of a missing one. @param known names of the schema, if known */
export function describeMissing(
  name: string,
  args: Readonly<Record<string, unknown>>,
  known: readonly string[] | undefined,
): string | undefined {
  const unknown = Object.keys(args).filter((given) => !known?.includes(given));
  const like = unknown.find((given) => isLike(given, name));
  if (like !== undefined) return describeSlip(like, name);
  return known === undefined || unknown[0] === undefined ? undefined : `there is no field \`${shown(unknown[0])}\``;
}

const describeSlip = (given: string, meant: string): string =>
  `there is no field \`${shown(given)}\`; did you mean \`${meant}\`?`;

const namesOf = ({ properties }: Record<string, unknown>): string[] =>
  isObject(properties) ? Object.keys(properties) : [];

const shown = (name: string): string => JSON.stringify(name.slice(0, NAME_SHOWN_CHARACTERS)).slice(1, -1);

const findMeant = (given: string, names: readonly string[]): string | undefined =>
  names.find((name) => plain(name) === plain(given)) ?? names.find((name) => isLike(given, name));

/** Whether a name is a typo, another spelling or an abbreviation of another: `command` and `cmd`. */
function isLike(given: string, name: string): boolean {
  const [a, b] = [plain(given.slice(0, NAME_SHOWN_CHARACTERS)), plain(name)];
  if (sorted(a) === sorted(b) || isAbbreviation(a, b) || isAbbreviation(b, a)) return true;
  return distance(a, b) <= Math.min(MAX_DISTANCE, Math.floor(Math.max(a.length, b.length) / 3));
}

/** Ignores the order of letters. */
const sorted = (letters: string): string => [...letters].sort().join("");

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** Letters of a name in their order, from its first one on. */
function isAbbreviation(short: string, long: string): boolean {
  if (short.length < 3 || short[0] !== long[0]) return false;
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return at === short.length;
}
