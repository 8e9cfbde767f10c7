import type { Budget } from "../budget.js";
import { Fault } from "../errors.js";
import { MAX_INTEGER_BITS } from "../limits.js";
import type { BinaryOperator, UnaryOperator } from "../syntax/syntax.js";
import { compareValues, getDictKey, isEqual, isNumber } from "./compare.js";
import { formatPercent } from "./percent-format.js";
import { getItems, setEntry } from "./sequences.js";
import type { Value } from "./values.js";
import { DictValue, getTypeName, isTruthy, ListValue, RangeValue, SLOT_BYTES, TupleValue } from "./values.js";

export function applyUnary(operator: UnaryOperator, operand: Value): Value {
  if (operator === "not") return !isTruthy(operand);
  if (typeof operand === "bigint") {
    return operator === "-" ? -operand : operator === "~" ? ~operand : operand;
  }
  if (typeof operand === "number" && operator !== "~") return operator === "-" ? -operand : operand;
  throw new Fault(`\`${operator}\` does not work on \`${getTypeName(operand)}\``);
}

export function applyBinary(operator: BinaryOperator, left: Value, right: Value, budget: Budget): Value {
  switch (operator) {
    case "==":
      return isEqual(left, right, budget);
    case "!=":
      return !isEqual(left, right, budget);
    case "<":
      return compareValues(left, right, budget) < 0;
    case "<=":
      return compareValues(left, right, budget) <= 0;
    case ">":
      return compareValues(left, right, budget) > 0;
    case ">=":
      return compareValues(left, right, budget) >= 0;
    case "in":
      return isMember(left, right, budget);
    case "not in":
      return !isMember(left, right, budget);
    default:
  }
  if (isNumber(left) && isNumber(right)) return applyArithmetic(operator, left, right);
  const result = applyToCollections(operator, left, right, budget);
  return result === undefined ? failTypes(operator, left, right) : result;
}

type Arithmetic = Exclude<BinaryOperator, "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in">;

function failTypes(operator: BinaryOperator, left: Value, right: Value): never {
  throw new Fault(`\`${operator}\` does not work on \`${getTypeName(left)}\` and \`${getTypeName(right)}\``);
}

function isMember(item: Value, container: Value, budget: Budget): boolean {
  if (typeof container === "string") {
    if (typeof item !== "string") return failTypes("in", item, container);
    budget.spend(container.length);
    return container.includes(item);
  }
  if (container instanceof DictValue) return container.entries.has(getDictKey(item, budget));
  const isSequence =
    container instanceof ListValue || container instanceof TupleValue || container instanceof RangeValue;
  if (!isSequence) return failTypes("in", item, container);
  return getItems(container, budget).some((candidate) => isEqual(candidate, item, budget));
}

function applyArithmetic(operator: Arithmetic, left: bigint | number, right: bigint | number): Value {
  if (typeof left === "bigint" && typeof right === "bigint" && operator !== "/") {
    return checkSize(applyInteger(operator, left, right));
  }
  return FLOAT_ARITHMETIC[operator]?.(Number(left), Number(right)) ?? failTypes(operator, left, right);
}

/** The arithmetic operators for floats; an operation on a float and an integer is one on floats. */
const FLOAT_ARITHMETIC: Partial<Record<Arithmetic, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / checkDivisor(right),
  "//": (left, right) => Math.floor(left / checkDivisor(right)),
  "%": (left, right) => left - Math.floor(left / checkDivisor(right)) * right,
};

function checkDivisor(right: number): number {
  if (right === 0) throw new Fault("division by zero");
  return right;
}

function applyInteger(operator: Exclude<Arithmetic, "/">, left: bigint, right: bigint): bigint {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "|":
      return left | right;
    case "&":
      return left & right;
    case "^":
      return left ^ right;
    case "<<":
    case ">>":
      if (right < 0n) throw new Fault(`\`${operator}\` by a negative count`);
      if (operator === ">>") return right > MAX_INTEGER_BITS ? (left < 0n ? -1n : 0n) : left >> right;
      if (right > MAX_INTEGER_BITS) throw new Fault(`an integer grows beyond ${MAX_INTEGER_BITS} bits`);
      return left << right;
    default: {
      if (right === 0n) throw new Fault("division by zero");
      const remainder = left % right;
      const isAdjusted = remainder !== 0n && remainder < 0n !== right < 0n;
      if (operator === "%") return isAdjusted ? remainder + right : remainder;
      return isAdjusted ? left / right - 1n : left / right;
    }
  }
}

const LARGEST_INTEGER = 1n << BigInt(MAX_INTEGER_BITS);

function checkSize(value: bigint): bigint {
  if (value < LARGEST_INTEGER && value > -LARGEST_INTEGER) return value;
  throw new Fault(`an integer grows beyond ${MAX_INTEGER_BITS} bits`);
}

function applyToCollections(operator: Arithmetic, left: Value, right: Value, budget: Budget): Value | undefined {
  if (operator === "+") return concatenate(left, right, budget);
  if (operator === "*") return repeat(left, right, budget) ?? repeat(right, left, budget);
  if (operator === "%" && typeof left === "string") return formatPercent(left, right, budget);
  if (operator === "|" && left instanceof DictValue && right instanceof DictValue) {
    const merged = new DictValue();
    for (const dict of [left, right]) {
      for (const [key, value] of dict.entries.values()) setEntry(merged, key, value, budget);
    }
    return merged;
  }
  return undefined;
}

function concatenate(left: Value, right: Value, budget: Budget): Value | undefined {
  if (typeof left === "string" && typeof right === "string") {
    budget.allocate(left.length + right.length);
    return left + right;
  }
  const isLists = left instanceof ListValue && right instanceof ListValue;
  const isTuples = left instanceof TupleValue && right instanceof TupleValue;
  if (!isLists && !isTuples) return undefined;
  const length = left.items.length + right.items.length;
  budget.spend(length);
  budget.allocate(length * SLOT_BYTES);
  const items = [...left.items, ...right.items];
  return isLists ? new ListValue(items) : new TupleValue(items);
}

function repeat(value: Value, count: Value, budget: Budget): Value | undefined {
  if (typeof count !== "bigint") return undefined;
  const times = count < 0n ? 0 : Number(count);
  if (typeof value === "string") {
    budget.allocate(value.length * times);
    return value.repeat(value === "" ? 0 : times);
  }
  if (!(value instanceof ListValue || value instanceof TupleValue)) return undefined;
  const length = value.items.length * times;
  budget.spend(length);
  budget.allocate(length * SLOT_BYTES);
  const items = Array.from({ length }, (_, index) => value.items[index % value.items.length] ?? null);
  return value instanceof ListValue ? new ListValue(items) : new TupleValue(items);
}
