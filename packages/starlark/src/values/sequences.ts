import type { Budget } from "../budget.js";
import { Fault } from "../errors.js";
import { getDictKey } from "./compare.js";
import { toRepr } from "./repr.js";
import {
  DictValue,
  ElementsValue,
  getTypeName,
  ListValue,
  RangeValue,
  SLOT_BYTES,
  TupleValue,
  type Value,
} from "./values.js";

/** The items that a loop over `value` visits. Strings are not iterable. */
export function getItems(value: Value, budget: Budget): readonly Value[] {
  if (value instanceof ListValue || value instanceof TupleValue || value instanceof ElementsValue) return value.items;
  if (value instanceof DictValue) return [...value.entries.values()].map(([key]) => key);
  if (value instanceof RangeValue) {
    const { length } = value;
    budget.spend(length);
    budget.allocate(length * SLOT_BYTES);
    return Array.from({ length }, (_, index) => BigInt(value.start + index * value.step));
  }
  const advice =
    typeof value === "string" ? "Use .elems() to visit the characters." : "Use a list, tuple, dict or range.";
  throw new Fault(`a value of type \`${getTypeName(value)}\` cannot be looped over`, advice);
}

/** A copy of the items, counted as new memory. */
export function copyItems(value: Value, budget: Budget): Value[] {
  const items = [...getItems(value, budget)];
  budget.spend(items.length);
  budget.allocate(items.length * SLOT_BYTES);
  return items;
}

/** Runs `body` while `value` cannot change. */
export function withIteration(value: Value, body: () => void): void {
  if (!(value instanceof ListValue || value instanceof DictValue)) return body();
  value.iterators += 1;
  body();
  value.iterators -= 1;
}

export function setEntry(dict: DictValue, key: Value, value: Value, budget: Budget): void {
  dict.checkMutable();
  const text = getDictKey(key, budget);
  budget.allocate(4 * SLOT_BYTES);
  dict.entries.set(text, [dict.entries.get(text)?.[0] ?? key, value]);
}

export function getLength(value: Value): number {
  if (typeof value === "string") return countCharacters(value);
  if (value instanceof ListValue || value instanceof TupleValue) return value.items.length;
  if (value instanceof DictValue) return value.entries.size;
  if (value instanceof RangeValue) return value.length;
  throw new Fault(`a value of type \`${getTypeName(value)}\` has no length`);
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** `object[index]` */
export function getIndexed(object: Value, index: Value, budget: Budget): Value {
  if (object instanceof DictValue) {
    const entry = object.entries.get(getDictKey(index, budget));
    if (entry === undefined) throw new Fault(`the key ${toRepr(index, budget)} is not in the dict`, "Use .get().");
    return entry[1];
  }
  if (typeof object === "string") {
    const characters = toCharacters(object, budget);
    return characters[toPosition(index, characters.length)] ?? null;
  }
  if (object instanceof ListValue || object instanceof TupleValue) {
    return object.items[toPosition(index, object.items.length)] ?? null;
  }
  if (object instanceof RangeValue) return BigInt(object.start + toPosition(index, object.length) * object.step);
  throw new Fault(`a value of type \`${getTypeName(object)}\` has no index`);
}

/** `object[index] = value` */
export function setIndexed(object: Value, index: Value, value: Value, budget: Budget): void {
  if (object instanceof DictValue) return setEntry(object, index, value, budget);
  if (!(object instanceof ListValue)) {
    throw new Fault(`a value of type \`${getTypeName(object)}\` cannot change`, "Use a list or a dict.");
  }
  object.checkMutable();
  object.items[toPosition(index, object.items.length)] = value;
}

function toPosition(index: Value, length: number): number {
  const position = toNumber(index, "an index");
  const fromStart = position < 0 ? position + length : position;
  if (fromStart < 0 || fromStart >= length) {
    throw new Fault(`the index ${position} is outside of a length of ${length}`);
  }
  return fromStart;
}

/** An integer as a number; `label` names it in messages. */
export function toNumber(value: Value | undefined, label: string): number {
  if (typeof value !== "bigint") throw new Fault(`${label} must be an int (got ${getTypeName(value ?? null)})`);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Fault(`${label} is too large (got ${value})`);
  return number;
}

export interface SliceBounds {
  readonly start: Value | undefined;
  readonly stop: Value | undefined;
  readonly step: Value | undefined;
}

/** `object[start:stop:step]` */
export function getSlice(object: Value, bounds: SliceBounds, budget: Budget): Value {
  const take = (items: readonly Value[]) => {
    const positions = getPositions(bounds, items.length);
    budget.spend(positions.length);
    budget.allocate(positions.length * SLOT_BYTES);
    return getItems(positions, budget).map((position) => items[Number(position)] ?? null);
  };
  if (typeof object === "string") return take(toCharacters(object, budget)).join("");
  if (object instanceof ListValue) return new ListValue(take(object.items));
  if (object instanceof TupleValue) return new TupleValue(take(object.items));
  if (!(object instanceof RangeValue)) throw new Fault(`a value of type \`${getTypeName(object)}\` has no slices`);
  const { start, stop, step } = getPositions(bounds, object.length);
  const at = (position: number) => object.start + position * object.step;
  return new RangeValue(at(start), at(stop), step * object.step);
}

function getPositions(bounds: SliceBounds, length: number): RangeValue {
  const step = bounds.step === undefined ? 1 : toNumber(bounds.step, "the step of a slice");
  if (step === 0) throw new Fault("the step of a slice is 0");
  const [lowest, highest] = step > 0 ? [0, length] : [-1, length - 1];
  const limit = (bound: Value | undefined, fallback: number) => {
    if (bound === undefined) return fallback;
    const position = toNumber(bound, "the bound of a slice");
    return Math.min(Math.max(position < 0 ? position + length : position, lowest), highest);
  };
  const start = limit(bounds.start, step > 0 ? 0 : length - 1);
  return new RangeValue(start, limit(bounds.stop, step > 0 ? length : -1), step);
}

export function toCharacters(text: string, budget: Budget): string[] {
  budget.spend(text.length);
  budget.allocate(text.length * SLOT_BYTES);
  return [...text];
}
