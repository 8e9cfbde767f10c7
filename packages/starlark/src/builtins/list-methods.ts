import { Fault } from "../errors.js";
import { isEqual } from "../values/compare.js";
import { copyItems, toNumber } from "../values/sequences.js";
import { type CallContext, type ListValue, SLOT_BYTES, type Value } from "../values/values.js";
import { getPositional } from "./bind-arguments.js";
import type { Method } from "./builtin.js";

const append: Method<ListValue> = (self, args, { budget }) => {
  const [item = null] = getPositional("append", args, 1);
  self.checkMutable();
  budget.allocate(SLOT_BYTES);
  self.items.push(item);
  return null;
};

const clear: Method<ListValue> = (self, args) => {
  getPositional("clear", args, 0);
  self.checkMutable();
  self.items.length = 0;
  return null;
};

const extend: Method<ListValue> = (self, args, { budget }) => {
  const [items = null] = getPositional("extend", args, 1);
  const added = copyItems(items, budget);
  self.checkMutable();
  for (const item of added) self.items.push(item);
  return null;
};

const findIndex: Method<ListValue> = (self, args, context) => {
  const [item = null, start, stop] = getPositional("index", args, 1, 3);
  const position = getPosition(self, item, context, toBound(start, 0, self), toBound(stop, self.items.length, self));
  return BigInt(position);
};

function toBound(value: Value | undefined, fallback: number, self: ListValue): number {
  const bound = value === undefined || value === null ? fallback : toNumber(value, "a bound of index()");
  return Math.max(0, bound < 0 ? bound + self.items.length : bound);
}

function getPosition(self: ListValue, item: Value, { budget }: CallContext, start: number, stop: number): number {
  const position = self.items.findIndex((each, at) => at >= start && at < stop && isEqual(each, item, budget));
  if (position === -1) throw new Fault("the value is not in the list", "Test with `in` first.");
  return position;
}

const insert: Method<ListValue> = (self, args, { budget }) => {
  const [index, item = null] = getPositional("insert", args, 2);
  self.checkMutable();
  budget.spend(self.items.length);
  budget.allocate(SLOT_BYTES);
  self.items.splice(toNumber(index, "the index of insert()"), 0, item);
  return null;
};

/** A negative index is out of range here, unlike in brackets. */
const pop: Method<ListValue> = (self, args, { budget }) => {
  const [index] = getPositional("pop", args, 0, 1);
  self.checkMutable();
  const { length } = self.items;
  const position = index === undefined ? length - 1 : toNumber(index, "the index of pop()");
  if (position < 0 || position >= length) throw new Fault(`the index ${position} is outside of a length of ${length}`);
  budget.spend(length - position);
  return self.items.splice(position, 1)[0] ?? null;
};

const remove: Method<ListValue> = (self, args, context) => {
  const [item = null] = getPositional("remove", args, 1);
  self.checkMutable();
  self.items.splice(getPosition(self, item, context, 0, self.items.length), 1);
  return null;
};

export const LIST_METHODS: ReadonlyMap<string, Method<ListValue>> = new Map<string, Method<ListValue>>([
  ["append", append],
  ["clear", clear],
  ["extend", extend],
  ["index", findIndex],
  ["insert", insert],
  ["pop", pop],
  ["remove", remove],
]);
