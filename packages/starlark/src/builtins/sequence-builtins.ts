import { Fault } from "../errors.js";
import { compareValues } from "../values/compare.js";
import { copyItems, getItems, getLength, toNumber } from "../values/sequences.js";
import {
  type CallContext,
  isTruthy,
  ListValue,
  RangeValue,
  SLOT_BYTES,
  TupleValue,
  type Value,
} from "../values/values.js";
import { getAttributeNames } from "./attributes.js";
import { bindArguments, checkNoNamed, getPositional } from "./bind-arguments.js";
import type { BuiltinFunction } from "./builtin.js";

const all: BuiltinFunction = (args, { budget }) => {
  const [items = null] = getPositional("all", args, 1);
  return getItems(items, budget).every(isTruthy);
};

const any: BuiltinFunction = (args, { budget }) => {
  const [items = null] = getPositional("any", args, 1);
  return getItems(items, budget).some(isTruthy);
};

const enumerate: BuiltinFunction = (args, { budget }) => {
  const bound = bindArguments(ENUMERATE_SIGNATURE, args);
  const start = toNumber(bound.get("start") ?? 0n, "the start of enumerate()");
  const items = copyItems(bound.get("x") ?? null, budget);
  budget.allocate(items.length * 3 * SLOT_BYTES);
  return new ListValue(items.map((item, index) => new TupleValue([BigInt(start + index), item])));
};

const ENUMERATE_SIGNATURE = {
  name: "enumerate",
  parameters: [
    { name: "x", required: true },
    { name: "start", required: false },
  ],
};

const len: BuiltinFunction = (args, { budget }) => {
  const [value = null] = getPositional("len", args, 1);
  if (typeof value === "string") budget.spend(value.length);
  return BigInt(getLength(value));
};

const list: BuiltinFunction = (args, { budget }) => {
  const [items] = getPositional("list", args, 0, 1);
  return new ListValue(items === undefined ? [] : copyItems(items, budget));
};

const tuple: BuiltinFunction = (args, { budget }) => {
  const [items] = getPositional("tuple", args, 0, 1);
  return new TupleValue(items === undefined ? [] : copyItems(items, budget));
};

const range: BuiltinFunction = (args) => {
  const [first, second, third] = getPositional("range", args, 1, 3).map((value) =>
    toNumber(value, "a bound of range()"),
  );
  const step = third ?? 1;
  if (step === 0) throw new Fault("the step of range() is 0");
  return second === undefined ? new RangeValue(0, first ?? 0, 1) : new RangeValue(first ?? 0, second, step);
};

const reversed: BuiltinFunction = (args, { budget }) => {
  const [items = null] = getPositional("reversed", args, 1);
  return new ListValue(copyItems(items, budget).reverse());
};

const sorted: BuiltinFunction = (args, context) => {
  checkNoNamed("sorted", args, ["key", "reverse"]);
  const [items = null] = getPositional("sorted", { positional: args.positional, named: new Map() }, 1);
  const direction = isTruthy(args.named.get("reverse") ?? false) ? -1 : 1;
  const keyed = getKeyed(copyItems(items, context.budget), args.named.get("key"), context);
  keyed.sort((left, right) => direction * compareValues(left.key, right.key, context.budget));
  return new ListValue(keyed.map(({ item }) => item));
};

interface Keyed {
  readonly item: Value;
  readonly key: Value;
}

function getKeyed(items: readonly Value[], key: Value | undefined, context: CallContext): Keyed[] {
  if (key === undefined || key === null) return items.map((item) => ({ item, key: item }));
  return items.map((item) => ({ item, key: context.call(key, { positional: [item], named: new Map() }) }));
}

/** `max` for a direction of 1, `min` for -1. */
function createExtreme(name: string, direction: 1 | -1): BuiltinFunction {
  return (args, context) => {
    checkNoNamed(name, args, ["key"]);
    const [first = null, ...more] = getPositional(
      name,
      { positional: args.positional, named: new Map() },
      1,
      Number.POSITIVE_INFINITY,
    );
    const items = more.length === 0 ? getItems(first, context.budget) : [first, ...more];
    const keyed = getKeyed(items, args.named.get("key"), context);
    const [head, ...rest] = keyed;
    if (head === undefined) throw new Fault(`${name}() of nothing`, "Give it at least one item.");
    return rest.reduce((best, candidate) => {
      return direction * compareValues(candidate.key, best.key, context.budget) > 0 ? candidate : best;
    }, head).item;
  };
}

const zip: BuiltinFunction = (args, { budget }) => {
  const columns = getPositional("zip", args, 0, Number.POSITIVE_INFINITY).map((value) => getItems(value, budget));
  const length = columns.length === 0 ? 0 : Math.min(...columns.map((column) => column.length));
  budget.spend(length * columns.length);
  budget.allocate(length * (columns.length + 1) * SLOT_BYTES);
  return new ListValue(
    Array.from({ length }, (_, index) => new TupleValue(columns.map((column) => column[index] ?? null))),
  );
};

const dir: BuiltinFunction = (args) => {
  const [value = null] = getPositional("dir", args, 1);
  return new ListValue(getAttributeNames(value));
};

export const SEQUENCE_BUILTINS: readonly (readonly [string, BuiltinFunction])[] = [
  ["all", all],
  ["any", any],
  ["dir", dir],
  ["enumerate", enumerate],
  ["len", len],
  ["list", list],
  ["max", createExtreme("max", 1)],
  ["min", createExtreme("min", -1)],
  ["range", range],
  ["reversed", reversed],
  ["sorted", sorted],
  ["tuple", tuple],
  ["zip", zip],
];
