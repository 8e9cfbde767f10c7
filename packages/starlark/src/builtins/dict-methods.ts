import type { Budget } from "../budget.js";
import { Fault } from "../errors.js";
import { getDictKey } from "../values/compare.js";
import { toRepr } from "../values/repr.js";
import { copyItems, getItems, setEntry } from "../values/sequences.js";
import { type CallArguments, DictValue, ListValue, SLOT_BYTES, TupleValue, type Value } from "../values/values.js";
import { getPositional } from "./bind-arguments.js";
import type { Method } from "./builtin.js";

/** `update` of a dict and the built-in `dict`: an optional dict or list of pairs, then named entries. */
export function addEntries(name: string, dict: DictValue, args: CallArguments, budget: Budget): void {
  const [source] = getPositional(name, { positional: args.positional, named: new Map() }, 0, 1);
  if (source !== undefined) {
    for (const [key, value] of getPairs(source, budget)) setEntry(dict, key, value, budget);
  }
  for (const [key, value] of args.named) setEntry(dict, key, value, budget);
}

function getPairs(source: Value, budget: Budget): readonly (readonly [Value, Value])[] {
  if (source instanceof DictValue) return [...source.entries.values()];
  return getItems(source, budget).map((pair) => {
    const isPair = (pair instanceof ListValue || pair instanceof TupleValue) && pair.items.length === 2;
    if (!isPair) throw new Fault("a dict is made of a dict or of pairs", 'Write [("key", value), …].');
    return [pair.items[0] ?? null, pair.items[1] ?? null];
  });
}

const clear: Method<DictValue> = (self, args) => {
  getPositional("clear", args, 0);
  self.checkMutable();
  self.entries.clear();
  return null;
};

const get: Method<DictValue> = (self, args, { budget }) => {
  const [key = null, fallback = null] = getPositional("get", args, 1, 2);
  const entry = self.entries.get(getDictKey(key, budget));
  return entry === undefined ? fallback : entry[1];
};

const items: Method<DictValue> = (self, args, { budget }) => {
  getPositional("items", args, 0);
  budget.allocate(self.entries.size * 4 * SLOT_BYTES);
  return new ListValue([...self.entries.values()].map((entry) => new TupleValue(entry)));
};

const keys: Method<DictValue> = (self, args, { budget }) => {
  getPositional("keys", args, 0);
  return new ListValue(copyItems(self, budget));
};

const values: Method<DictValue> = (self, args, { budget }) => {
  getPositional("values", args, 0);
  budget.allocate(self.entries.size * SLOT_BYTES);
  return new ListValue([...self.entries.values()].map(([, value]) => value));
};

const pop: Method<DictValue> = (self, args, { budget }) => {
  const [key = null, fallback] = getPositional("pop", args, 1, 2);
  self.checkMutable();
  const text = getDictKey(key, budget);
  const entry = self.entries.get(text);
  if (entry === undefined && fallback === undefined) {
    throw new Fault(`the key ${toRepr(key, budget)} is not in the dict`, "Give pop() a second argument.");
  }
  self.entries.delete(text);
  return entry === undefined ? (fallback ?? null) : entry[1];
};

const popItem: Method<DictValue> = (self, args) => {
  getPositional("popitem", args, 0);
  self.checkMutable();
  const [first] = self.entries;
  if (first === undefined) throw new Fault("popitem() of an empty dict");
  self.entries.delete(first[0]);
  return new TupleValue(first[1]);
};

const setDefault: Method<DictValue> = (self, args, { budget }) => {
  const [key = null, fallback = null] = getPositional("setdefault", args, 1, 2);
  const entry = self.entries.get(getDictKey(key, budget));
  if (entry !== undefined) return entry[1];
  setEntry(self, key, fallback, budget);
  return fallback;
};

const update: Method<DictValue> = (self, args, { budget }) => {
  self.checkMutable();
  addEntries("update", self, args, budget);
  return null;
};

export const DICT_METHODS: ReadonlyMap<string, Method<DictValue>> = new Map<string, Method<DictValue>>([
  ["clear", clear],
  ["get", get],
  ["items", items],
  ["keys", keys],
  ["pop", pop],
  ["popitem", popItem],
  ["setdefault", setDefault],
  ["update", update],
  ["values", values],
]);
