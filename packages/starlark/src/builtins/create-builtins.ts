import { Fault } from "../errors.js";
import { toRepr, toText } from "../values/repr.js";
import { BuiltinValue, DictValue, getTypeName, isTruthy, type Value } from "../values/values.js";
import { findMethod } from "./attributes.js";
import { getPositional } from "./bind-arguments.js";
import type { BuiltinFunction } from "./builtin.js";
import { addEntries } from "./dict-methods.js";
import { NUMBER_BUILTINS } from "./number-builtins.js";
import { SEQUENCE_BUILTINS } from "./sequence-builtins.js";

/** The predeclared names of every file: the functions of the language, without `print` and `load`. */
export function createBuiltins(): Map<string, Value> {
  const names = new Map<string, Value>([
    ["None", null],
    ["True", true],
    ["False", false],
  ]);
  for (const [name, run] of [...VALUE_BUILTINS, ...NUMBER_BUILTINS, ...SEQUENCE_BUILTINS]) {
    names.set(name, new BuiltinValue(name, run));
  }
  return names;
}

const VALUE_BUILTINS: readonly (readonly [string, BuiltinFunction])[] = [
  [
    "bool",
    (args) => {
      const [value = false] = getPositional("bool", args, 0, 1);
      return isTruthy(value);
    },
  ],
  [
    "dict",
    (args, { budget }) => {
      const dict = new DictValue();
      addEntries("dict", dict, args, budget);
      return dict;
    },
  ],
  [
    "fail",
    (args, { budget }) => {
      const texts = getPositional("fail", args, 0, Number.POSITIVE_INFINITY).map((value) => toText(value, budget));
      throw new Fault(`fail: ${texts.join(" ")}`, "The file itself calls fail().");
    },
  ],
  [
    "getattr",
    (args) => {
      const [object = null, name = null, fallback] = getPositional("getattr", args, 2, 3);
      const method = typeof name === "string" ? findMethod(object, name) : undefined;
      if (method !== undefined) return method;
      if (fallback !== undefined) return fallback;
      throw new Fault(`a value of type \`${getTypeName(object)}\` has no such attribute`);
    },
  ],
  [
    "hasattr",
    (args) => {
      const [object = null, name = null] = getPositional("hasattr", args, 2);
      return typeof name === "string" && findMethod(object, name) !== undefined;
    },
  ],
  [
    "repr",
    (args, { budget }) => {
      const [value = null] = getPositional("repr", args, 1);
      return toRepr(value, budget);
    },
  ],
  [
    "str",
    (args, { budget }) => {
      const [value = null] = getPositional("str", args, 1);
      return toText(value, budget);
    },
  ],
  [
    "type",
    (args) => {
      const [value = null] = getPositional("type", args, 1);
      return getTypeName(value);
    },
  ],
];
