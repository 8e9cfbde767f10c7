import { Fault } from "../errors.js";
import { BuiltinValue, DictValue, getTypeName, ListValue, type Value } from "../values/values.js";
import type { Method } from "./builtin.js";
import { DICT_METHODS } from "./dict-methods.js";
import { LIST_METHODS } from "./list-methods.js";
import { STRING_METHODS } from "./string-methods.js";

/** `object.name` */
export function getAttribute(object: Value, name: string): Value {
  const method = findMethod(object, name);
  if (method !== undefined) return method;
  const known = getAttributeNames(object);
  throw new Fault(
    `a value of type \`${getTypeName(object)}\` has no attribute \`${name}\``,
    known.length === 0 ? "It has none." : `It has: ${known.join(", ")}.`,
  );
}

/** Undefined when the value has no such method. */
export function findMethod(object: Value, name: string): BuiltinValue | undefined {
  if (typeof object === "string") return bindMethod(STRING_METHODS, object, name);
  if (object instanceof ListValue) return bindMethod(LIST_METHODS, object, name);
  return object instanceof DictValue ? bindMethod(DICT_METHODS, object, name) : undefined;
}

function bindMethod<T>(methods: ReadonlyMap<string, Method<T>>, self: T, name: string): BuiltinValue | undefined {
  const method = methods.get(name);
  return method && new BuiltinValue(name, (args, context) => method(self, args, context));
}

/** What `dir` lists, sorted. */
export function getAttributeNames(object: Value): string[] {
  if (typeof object === "string") return [...STRING_METHODS.keys()].sort();
  if (object instanceof ListValue) return [...LIST_METHODS.keys()].sort();
  return object instanceof DictValue ? [...DICT_METHODS.keys()].sort() : [];
}
