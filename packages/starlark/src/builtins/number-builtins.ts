import { Fault } from "../errors.js";
import { getTypeName, type Value } from "../values/values.js";
import { bindArguments, getPositional } from "./bind-arguments.js";
import type { BuiltinFunction } from "./builtin.js";

const abs: BuiltinFunction = (args) => {
  const [value = null] = getPositional("abs", args, 1);
  if (typeof value === "bigint") return value < 0n ? -value : value;
  if (typeof value === "number") return Math.abs(value);
  throw new Fault(`abs() needs a number (got ${getTypeName(value)})`);
};

const chr: BuiltinFunction = (args) => {
  const [value = null] = getPositional("chr", args, 1);
  const isScalar =
    typeof value === "bigint" && value >= 0n && value <= 0x10ffffn && !(value >= 0xd800n && value <= 0xdfffn);
  if (!isScalar) throw new Fault("chr() needs the number of a Unicode character", "Give an int from 0 to 0x10ffff.");
  return String.fromCodePoint(Number(value));
};

const ord: BuiltinFunction = (args) => {
  const [value = null] = getPositional("ord", args, 1);
  const isOne = typeof value === "string" && [...value.slice(0, 4)].length === 1;
  if (!isOne) throw new Fault("ord() needs a string of one character");
  return BigInt(value.codePointAt(0) ?? 0);
};

/** The same for equal strings on every machine: s[0]·31ⁿ⁻¹ + … as a signed 32-bit integer. */
const hash: BuiltinFunction = (args, { budget }) => {
  const [value = null] = getPositional("hash", args, 1);
  if (typeof value !== "string") throw new Fault(`hash() needs a string (got ${getTypeName(value)})`);
  budget.spend(value.length);
  let result = 0;
  for (let index = 0; index < value.length; index += 1) result = (Math.imul(result, 31) + value.charCodeAt(index)) | 0;
  return BigInt(result);
};

const float: BuiltinFunction = (args) => {
  const [value = 0] = getPositional("float", args, 0, 1);
  if (typeof value === "boolean" || typeof value === "bigint" || typeof value === "number") return Number(value);
  if (typeof value !== "string") throw new Fault(`float() needs a number or a string (got ${getTypeName(value)})`);
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(value);
  if (special !== null) {
    if (special[2]?.toLowerCase() === "nan") return Number.NaN;
    return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(value)) {
    throw new Fault(`float() cannot read ${JSON.stringify(value)}`);
  }
  return Number(value);
};

const int: BuiltinFunction = (args) => {
  const bound = bindArguments(INT_SIGNATURE, args);
  const value = bound.get("x");
  const base = bound.get("base");
  if (typeof value === "string") return readInteger(value, base);
  if (base !== undefined) throw new Fault("int() takes a base only with a string");
  if (value === undefined) return 0n;
  if (typeof value === "bigint") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number" && Number.isFinite(value)) return BigInt(Math.trunc(value));
  throw new Fault(`int() needs a finite number or a string (got ${getTypeName(value)})`);
};

const INT_SIGNATURE = {
  name: "int",
  parameters: [
    { name: "x", required: false },
    { name: "base", required: false },
  ],
};

/** Longest text `int` reads, in characters; its cost grows with the square of the length. */
const MAX_INTEGER_TEXT = 10_000;

function readInteger(text: string, base: Value | undefined): bigint {
  const given = base === undefined ? 10n : base;
  if (typeof given !== "bigint" || given < 0n || given === 1n || given > 36n) {
    throw new Fault("the base of int() must be 0 or from 2 to 36");
  }
  const [, sign, prefix = "", digits = ""] = /^([+-]?)(0[xXoObB])?(\w+)$/.exec(text) ?? [];
  const prefixBase = { x: 16, o: 8, b: 2 }[prefix[1]?.toLowerCase() ?? ""];
  const radix = given === 0n ? (prefixBase ?? 10) : Number(given);
  // A prefix of another base is digits of this one: 0b1 in base 16.
  const body = (prefixBase === radix ? digits : prefix + digits).replaceAll("_", "").toLowerCase();
  const isValid = body !== "" && text.length <= MAX_INTEGER_TEXT && [...body].every((digit) => isDigit(digit, radix));
  if (!isValid) throw new Fault(`int() cannot read ${JSON.stringify(text.slice(0, 40))} in base ${radix}`);
  const magnitude = [...body].reduce((total, digit) => total * BigInt(radix) + BigInt(Number.parseInt(digit, 36)), 0n);
  return sign === "-" ? -magnitude : magnitude;
}

function isDigit(digit: string, radix: number): boolean {
  return /^[0-9a-z]$/.test(digit) && Number.parseInt(digit, 36) < radix;
}

export const NUMBER_BUILTINS: readonly (readonly [string, BuiltinFunction])[] = [
  ["abs", abs],
  ["chr", chr],
  ["float", float],
  ["hash", hash],
  ["int", int],
  ["ord", ord],
];
