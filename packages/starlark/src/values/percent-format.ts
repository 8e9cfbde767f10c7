import type { Budget } from "../budget.js";
import { Fault } from "../errors.js";
import { renderExponent, renderFloat, toRepr, toText } from "./repr.js";
import { getTypeName, TupleValue, type Value } from "./values.js";

/** `text % values`: %s %r %d %o %x %X %e %E %f %F %g %G and %%, without widths. */
export function formatPercent(text: string, values: Value, budget: Budget): string {
  const items = values instanceof TupleValue ? values.items : [values];
  let used = 0;
  const formatted = text.replace(/%(.?)/gsu, (_match, conversion: string) => {
    if (conversion === "%") return "%";
    if (conversion === "") throw new Fault("the format string ends with a single %", "Write %% for a percent sign.");
    const value = items[used];
    if (value === undefined && CONVERSIONS.includes(conversion)) {
      throw new Fault(`the format string needs more than ${items.length} values`);
    }
    used += 1;
    const part = formatConversion(conversion, value ?? null, budget);
    budget.allocate(part.length);
    return part;
  });
  if (used < items.length) throw new Fault(`the format string takes ${used} of ${items.length} values`);
  budget.allocate(formatted.length);
  return formatted;
}

const CONVERSIONS = "srdoxXeEfFgG";

function formatConversion(conversion: string, value: Value, budget: Budget): string {
  switch (conversion) {
    case "s":
      return toText(value, budget);
    case "r":
      return toRepr(value, budget);
    case "d":
      return toInteger(conversion, value).toString();
    case "o":
      return toInteger(conversion, value).toString(8);
    case "x":
      return toInteger(conversion, value).toString(16);
    case "X":
      return toInteger(conversion, value).toString(16).toUpperCase();
    case "e":
    case "E":
      return applyCase(conversion, renderExponent(toFloat(conversion, value)));
    case "f":
    case "F":
      return toFloat(conversion, value).toFixed(6);
    case "g":
    case "G":
      return applyCase(conversion, renderFloat(toFloat(conversion, value)));
    default:
      throw new Fault(`\`%${conversion}\` is not a known format`, "Use %s, %r, %d, %o, %x, %X, %e, %f, %g or %%.");
  }
}

function applyCase(conversion: string, text: string): string {
  return conversion === conversion.toUpperCase() ? text.toUpperCase() : text;
}

function toInteger(conversion: string, value: Value): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isFinite(value)) return BigInt(Math.trunc(value));
  throw new Fault(`\`%${conversion}\` needs a number (got ${getTypeName(value)})`);
}

function toFloat(conversion: string, value: Value): number {
  if (typeof value === "bigint" || typeof value === "number") return Number(value);
  throw new Fault(`\`%${conversion}\` needs a number (got ${getTypeName(value)})`);
}
