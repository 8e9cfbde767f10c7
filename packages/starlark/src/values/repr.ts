import type { Budget } from "../budget.js";
import { quoteString } from "./quote-string.js";
import {
  type BuiltinValue,
  DictValue,
  ElementsValue,
  type FunctionValue,
  ListValue,
  RangeValue,
  TupleValue,
  type Value,
} from "./values.js";

/** The text `str` gives: a string as it is, everything else as in a program. */
export function toText(value: Value, budget: Budget): string {
  return typeof value === "string" ? value : toRepr(value, budget);
}

/** The text `repr` gives. */
export function toRepr(value: Value, budget: Budget): string {
  return writeValue(value, budget, []);
}

function writeValue(value: Value, budget: Budget, ancestors: readonly Value[]): string {
  budget.spend();
  budget.enter();
  const text = writeInside(value, budget, ancestors);
  budget.leave();
  budget.allocate(text.length);
  return text;
}

function writeInside(value: Value, budget: Budget, ancestors: readonly Value[]): string {
  if (value === null) return "None";
  switch (typeof value) {
    case "boolean":
      return value ? "True" : "False";
    case "bigint":
      return value.toString();
    case "number":
      return renderFloat(value);
    case "string":
      return quoteString(value);
    default:
  }
  const isCyclic = ancestors.includes(value);
  const path = [...ancestors, value];
  const write = (item: Value) => writeValue(item, budget, path);
  if (value instanceof ListValue) return isCyclic ? "[...]" : `[${value.items.map(write).join(", ")}]`;
  if (value instanceof TupleValue) {
    return value.items.length === 1 ? `(${value.items.map(write)},)` : `(${value.items.map(write).join(", ")})`;
  }
  if (value instanceof DictValue) {
    if (isCyclic) return "{...}";
    return `{${[...value.entries.values()].map(([key, item]) => `${write(key)}: ${write(item)}`).join(", ")}}`;
  }
  return writeOther(value);
}

function writeOther(value: RangeValue | ElementsValue | FunctionValue | BuiltinValue): string {
  if (value instanceof RangeValue) {
    const bounds = value.step === 1 ? (value.start === 0 ? [] : [value.start]) : [value.start];
    return `range(${[...bounds, value.stop, ...(value.step === 1 ? [] : [value.step])].join(", ")})`;
  }
  return value instanceof ElementsValue ? "iterator" : value.name;
}

/** Up to 1e+06 in full, above and below 1e-05 with an exponent and seven significant digits. */
export function renderFloat(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "+inf" : "-inf";
  const magnitude = Math.abs(value);
  if (magnitude === 0 || (magnitude >= 1e-5 && magnitude < 1e6)) {
    const text = Object.is(value, -0) ? "-0" : String(value);
    return text.includes(".") ? text : `${text}.0`;
  }
  return renderExponent(value).replace(/\.?(?<!0)0+e/, "e");
}

/** With a point, six digits after it and an exponent of at least two digits. */
export function renderExponent(value: number): string {
  const [mantissa = "", exponent = ""] = value.toExponential(6).split("e");
  return `${mantissa}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, "0")}`;
}
