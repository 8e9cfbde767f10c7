import type { Budget } from "../budget.js";
import { Fault } from "../errors.js";
import { DictValue, getTypeName, ListValue, RangeValue, TupleValue, type Value } from "./values.js";

/** Equality of `==`: integers and floats by number, collections by content, everything else by identity. */
export function isEqual(left: Value, right: Value, budget: Budget): boolean {
  budget.spend();
  if (left === right) return true;
  if (isNumber(left) && isNumber(right)) return left <= right && left >= right;
  budget.enter();
  const equal = isContentEqual(left, right, budget);
  budget.leave();
  return equal;
}

function isContentEqual(left: Value, right: Value, budget: Budget): boolean {
  const leftItems = getSequence(left, right);
  const rightItems = getSequence(right, left);
  if (leftItems !== undefined && rightItems !== undefined) {
    return (
      leftItems.length === rightItems.length &&
      leftItems.every((item, index) => isEqual(item, rightItems[index] ?? null, budget))
    );
  }
  if (left instanceof RangeValue && right instanceof RangeValue) return isRangeEqual(left, right);
  if (!(left instanceof DictValue && right instanceof DictValue)) return false;
  if (left.entries.size !== right.entries.size) return false;
  return [...left.entries].every(([key, [, item]]) => {
    const other = right.entries.get(key);
    return other !== undefined && isEqual(item, other[1], budget);
  });
}

function isRangeEqual(left: RangeValue, right: RangeValue): boolean {
  if (left.length !== right.length) return false;
  if (left.length === 0) return true;
  return left.start === right.start && (left.length === 1 || left.step === right.step);
}

/** Below 0, 0 or above 0, as `<` orders; a `Fault` where the types have no order. */
export function compareValues(left: Value, right: Value, budget: Budget): number {
  budget.spend();
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  const leftItems = getSequence(left, right);
  const rightItems = getSequence(right, left);
  if (leftItems === undefined || rightItems === undefined) {
    throw new Fault(
      `\`${getTypeName(left)}\` and \`${getTypeName(right)}\` have no order`,
      "Compare values of one type.",
    );
  }
  budget.enter();
  const order = compareSequences(leftItems, rightItems, budget);
  budget.leave();
  return order;
}

function compareSequences(left: readonly Value[], right: readonly Value[], budget: Budget): number {
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const order = compareValues(left[index] ?? null, right[index] ?? null, budget);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** By code point, which differs from UTF-16 order beyond the basic plane. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** The items when both are lists or both are tuples. */
function getSequence(value: Value, other: Value): readonly Value[] | undefined {
  if (value instanceof ListValue && other instanceof ListValue) return value.items;
  if (value instanceof TupleValue && other instanceof TupleValue) return value.items;
  return undefined;
}

export function isNumber(value: Value): value is bigint | number {
  return typeof value === "bigint" || typeof value === "number";
}

/** Equal keys give equal texts; a `Fault` for values that cannot be keys. */
export function getDictKey(value: Value, budget: Budget): string {
  budget.spend();
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return `"${value}`;
  if (typeof value === "bigint") return `#${value}`;
  if (typeof value === "number") return Number.isInteger(value) ? `#${BigInt(value)}` : `#${value}`;
  if (!(value instanceof TupleValue)) throw new Fault(`a value of type \`${getTypeName(value)}\` cannot be a dict key`);
  budget.enter();
  const parts = value.items.map((item) => getDictKey(item, budget));
  budget.leave();
  const key = `(${parts.map((part) => `${part.length}:${part}`).join("")})`;
  budget.allocate(key.length);
  return key;
}
