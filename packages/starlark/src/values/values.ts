import type { Budget } from "../budget.js";
import { Fault } from "../errors.js";
import type { FunctionDefinition, LambdaExpression } from "../syntax/syntax.js";

/** Integers are bigints, floats are numbers, `None` is null. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | ListValue
  | TupleValue
  | DictValue
  | RangeValue
  | ElementsValue
  | FunctionValue
  | BuiltinValue;

/** Estimate of what one slot of a collection occupies, in bytes. */
export const SLOT_BYTES = 16;

/** A Starlark list. */
export class ListValue {
  /** Loops running over this list; while there are any it cannot change. */
  iterators = 0;
  constructor(readonly items: Value[]) {}

  checkMutable(): void {
    if (this.iterators > 0) throw new Fault("this list changes while a loop runs over it", "Loop over a copy.");
  }
}

export class TupleValue {
  constructor(readonly items: readonly Value[]) {}
}

/** A dict. */
export class DictValue {
  iterators = 0;
  /** Keyed by `getDictKey`; insertion order is the order of the dict. */
  readonly entries = new Map<string, readonly [key: Value, value: Value]>();

  checkMutable(): void {
    if (this.iterators > 0) throw new Fault("this dict changes while a loop runs over it", "Loop over a copy.");
  }
}

/** A range of integers, computed on access. */
export class RangeValue {
  constructor(
    readonly start: number,
    readonly stop: number,
    readonly step: number,
  ) {}

  get length(): number {
    return Math.max(0, Math.ceil((this.stop - this.start) / this.step));
  }
}

/** The iterable that the string methods `elems` and `codepoints` return. */
export class ElementsValue {
  constructor(readonly items: readonly Value[]) {}
}

/** The variables in scope. `get` throws a `Fault` for a name without a value. */
export interface Environment {
  get(name: string): Value;
  set(name: string, value: Value): void;
}

export class FunctionValue {
  constructor(
    readonly name: string,
    readonly definition: FunctionDefinition | LambdaExpression,
    /** Values of the defaults, by parameter; undefined where there is none. */
    readonly defaults: readonly (Value | undefined)[],
    /** The variables around its definition. */
    readonly closure: Environment,
  ) {}
}

export interface CallArguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** The context in which a built-in function is called. */
export interface CallContext {
  readonly budget: Budget;
  /** Offset of the call in the file. */
  readonly at: number;
  call(callee: Value, args: CallArguments): Value;
}

/**
 * A function that the host provides. `run` may throw a `Fault`.
 *
 * @example new BuiltinValue("double", ({ positional: [value] }) => (typeof value === "bigint" ? value * 2n : null))
 */
export class BuiltinValue {
  constructor(
    readonly name: string,
    readonly run: (args: CallArguments, context: CallContext) => Value,
  ) {}
}

/** The name of the type as `type(value)` returns it. */
export function getTypeName(value: Value): string {
  if (value === null) return "NoneType";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "float";
    case "string":
      return "string";
    default:
  }
  if (value instanceof ListValue) return "list";
  if (value instanceof TupleValue) return "tuple";
  if (value instanceof DictValue) return "dict";
  if (value instanceof RangeValue) return "range";
  if (value instanceof ElementsValue) return "iterator";
  return "function";
}

/** Whether `value` counts as true in a condition. */
export function isTruthy(value: Value): boolean {
  if (value === null) return false;
  switch (typeof value) {
    case "boolean":
      return value;
    case "bigint":
      return value !== 0n;
    case "number":
      return value !== 0;
    case "string":
      return value !== "";
    default:
  }
  if (value instanceof ListValue || value instanceof TupleValue) return value.items.length > 0;
  if (value instanceof DictValue) return value.entries.size > 0;
  return value instanceof RangeValue ? value.length > 0 : true;
}
