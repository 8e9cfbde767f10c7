import { Fault } from "../errors.js";
import { getItems, getSlice, toCharacters, toNumber } from "../values/sequences.js";
import {
  type CallArguments,
  type CallContext,
  ElementsValue,
  getTypeName,
  isTruthy,
  ListValue,
  SLOT_BYTES,
  TupleValue,
  type Value,
} from "../values/values.js";
import { getPositional } from "./bind-arguments.js";
import { formatBraces } from "./brace-format.js";
import type { Method } from "./builtin.js";
import { splitLines, splitText, splitTextFromEnd } from "./split-text.js";

type StringMethod = Method<string>;

/** Charges a new string to the budget and returns it. */
function charge(text: string, { budget }: CallContext): string {
  budget.spend(text.length);
  budget.allocate(text.length);
  return text;
}

function toStringArgument(value: Value | undefined, label: string): string {
  if (typeof value !== "string") throw new Fault(`${label} must be a string (got ${getTypeName(value ?? null)})`);
  return value;
}

/** A method without arguments that returns another text. */
function transform(name: string, change: (text: string) => string): [string, StringMethod] {
  return [
    name,
    (self, args, context) => {
      getPositional(name, args, 0);
      return charge(change(self), context);
    },
  ];
}

/** A method without arguments that tests the text. */
function predicate(name: string, test: (text: string) => boolean): [string, StringMethod] {
  return [
    name,
    (self, args, { budget }) => {
      getPositional(name, args, 0);
      budget.spend(self.length);
      return test(self);
    },
  ];
}

const hasLetters = (text: string) => /[\p{Lu}\p{Ll}]/u.test(text);

function toTitle(text: string): string {
  return text.toLowerCase().replace(/\p{L}+/gu, (word) => capitalize(word));
}

function capitalize(text: string): string {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("").toLowerCase();
}

/** The part of the text between the optional bounds at `args[1]` and `args[2]`, and where it starts. */
function getWindow(self: string, args: readonly Value[], context: CallContext): { text: string; offset: number } {
  const [, start, stop] = args;
  if (start === undefined) return { text: self, offset: 0 };
  const bounds = { start: start ?? 0n, stop: stop ?? undefined, step: undefined };
  const text = toStringArgument(getSlice(self, bounds, context.budget), "a slice");
  const { length } = toCharacters(self, context.budget);
  const position = toNumber(bounds.start, "a bound");
  return { text, offset: Math.max(0, position < 0 ? position + length : position) };
}

function find(name: string, fromEnd: boolean, required: boolean): [string, StringMethod] {
  return [
    name,
    (self, args, context) => {
      const given = getPositional(name, args, 1, 3);
      const needle = toStringArgument(given[0], `the argument of ${name}()`);
      const { text, offset } = getWindow(self, given, context);
      context.budget.spend(text.length);
      const position = fromEnd ? text.lastIndexOf(needle) : text.indexOf(needle);
      if (position !== -1) return BigInt(offset + [...text.slice(0, position)].length);
      if (required) throw new Fault(`the text does not contain ${JSON.stringify(needle)}`, "Use find() instead.");
      return -1n;
    },
  ];
}

function affix(name: string, test: (text: string, part: string) => boolean): [string, StringMethod] {
  return [
    name,
    (self, args, context) => {
      const given = getPositional(name, args, 1, 3);
      const [part = null] = given;
      const parts = part instanceof TupleValue ? part.items : [part];
      const { text } = getWindow(self, given, context);
      return parts.some((each) => test(text, toStringArgument(each, `the argument of ${name}()`)));
    },
  ];
}

function strip(name: string, atStart: boolean, atEnd: boolean): [string, StringMethod] {
  return [
    name,
    (self, args, context) => {
      const [characters] = getPositional(name, args, 0, 1);
      const isStripped =
        characters === undefined || characters === null
          ? (character: string) => /\s/u.test(character)
          : (character: string) => toStringArgument(characters, `the argument of ${name}()`).includes(character);
      const letters = toCharacters(self, context.budget);
      let start = 0;
      let end = letters.length;
      while (atStart && start < end && isStripped(letters[start] ?? "")) start += 1;
      while (atEnd && end > start && isStripped(letters[end - 1] ?? "")) end -= 1;
      return charge(letters.slice(start, end).join(""), context);
    },
  ];
}

function partition(name: string, fromEnd: boolean): [string, StringMethod] {
  return [
    name,
    (self, args, context) => {
      const separator = toStringArgument(getPositional(name, args, 1)[0], `the argument of ${name}()`);
      if (separator === "") throw new Fault(`the separator of ${name}() is empty`);
      const at = fromEnd ? self.lastIndexOf(separator) : self.indexOf(separator);
      charge(self, context);
      if (at === -1) return new TupleValue(fromEnd ? ["", "", self] : [self, "", ""]);
      return new TupleValue([self.slice(0, at), separator, self.slice(at + separator.length)]);
    },
  ];
}

function split(name: string, run: typeof splitText): [string, StringMethod] {
  return [
    name,
    (self, args, { budget }) => {
      const [separator, limit] = getPositional(name, args, 0, 2);
      const by =
        separator === undefined || separator === null ? undefined : toStringArgument(separator, "the separator");
      const most = limit === undefined || limit === null ? -1 : toNumber(limit, `the limit of ${name}()`);
      const parts = run(self, by, most < 0 ? Number.POSITIVE_INFINITY : most);
      budget.spend(self.length + parts.length);
      budget.allocate(self.length + parts.length * SLOT_BYTES);
      return new ListValue(parts);
    },
  ];
}

const count: StringMethod = (self, args, context) => {
  const given = getPositional("count", args, 1, 3);
  const part = toStringArgument(given[0], "the argument of count()");
  const { text } = getWindow(self, given, context);
  context.budget.spend(text.length);
  if (part === "") return BigInt([...text].length + 1);
  return BigInt(text.split(part).length - 1);
};

const join: StringMethod = (self, args, context) => {
  const [parts = null] = getPositional("join", args, 1);
  const texts = getItems(parts, context.budget).map((part) => toStringArgument(part, "every part given to join()"));
  context.budget.spend(texts.length);
  context.budget.allocate(self.length * texts.length + texts.reduce((total, text) => total + text.length, 0));
  return texts.join(self);
};

const replace: StringMethod = (self, args, context) => {
  const [from, to, limit] = getPositional("replace", args, 2, 3);
  const needle = toStringArgument(from, "the first argument of replace()");
  const replacement = toStringArgument(to, "the second argument of replace()");
  const most = limit === undefined ? Number.POSITIVE_INFINITY : toNumber(limit, "the limit of replace()");
  if (most < 0) throw new Fault(`the limit of replace() is negative (got ${most})`);
  const pieces = needle === "" ? ["", ...toCharacters(self, context.budget), ""] : self.split(needle);
  const times = Math.min(most, pieces.length - 1);
  context.budget.allocate(self.length + times * replacement.length);
  return pieces.slice(0, times).join(replacement) + (times > 0 ? replacement : "") + pieces.slice(times).join(needle);
};

const removeAffix = (name: string, isPrefix: boolean): [string, StringMethod] => [
  name,
  (self, args, context) => {
    const part = toStringArgument(getPositional(name, args, 1)[0], `the argument of ${name}()`);
    charge(self, context);
    if (isPrefix) return self.startsWith(part) ? self.slice(part.length) : self;
    return part !== "" && self.endsWith(part) ? self.slice(0, -part.length) : self;
  },
];

const elements = (name: string, map: (character: string) => Value): [string, StringMethod] => [
  name,
  (self, args, { budget }) => {
    getPositional(name, args, 0);
    return new ElementsValue(toCharacters(self, budget).map(map));
  },
];

const format: StringMethod = (self, args: CallArguments, { budget }) => formatBraces(self, args, budget);

const lines: StringMethod = (self, args, { budget }) => {
  const [keepEnds = false] = getPositional("splitlines", args, 0, 1);
  const parts = splitLines(self, isTruthy(keepEnds));
  budget.spend(self.length);
  budget.allocate(self.length + parts.length * SLOT_BYTES);
  return new ListValue(parts);
};

export const STRING_METHODS: ReadonlyMap<string, StringMethod> = new Map<string, StringMethod>([
  transform("capitalize", capitalize),
  elements("codepoints", (character) => BigInt(character.codePointAt(0) ?? 0)),
  ["count", count],
  elements("elems", (character) => character),
  affix("endswith", (text, part) => text.endsWith(part)),
  find("find", false, false),
  ["format", format],
  find("index", false, true),
  predicate("isalnum", (text) => /^[\p{Alphabetic}\p{N}]+$/u.test(text)),
  predicate("isalpha", (text) => /^\p{Alphabetic}+$/u.test(text)),
  predicate("isdigit", (text) => /^\p{N}+$/u.test(text)),
  predicate("islower", (text) => hasLetters(text) && text === text.toLowerCase()),
  predicate("isspace", (text) => /^\s+$/u.test(text)),
  predicate("istitle", (text) => hasLetters(text) && text === toTitle(text)),
  predicate("isupper", (text) => hasLetters(text) && text === text.toUpperCase()),
  ["join", join],
  transform("lower", (text) => text.toLowerCase()),
  strip("lstrip", true, false),
  partition("partition", false),
  removeAffix("removeprefix", true),
  removeAffix("removesuffix", false),
  ["replace", replace],
  find("rfind", true, false),
  find("rindex", true, true),
  partition("rpartition", true),
  split("rsplit", splitTextFromEnd),
  strip("rstrip", false, true),
  split("split", splitText),
  ["splitlines", lines],
  affix("startswith", (text, part) => text.startsWith(part)),
  strip("strip", true, true),
  transform("title", toTitle),
  transform("upper", (text) => text.toUpperCase()),
]);
