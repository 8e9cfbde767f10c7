import { getInteger } from "./members.js";

/** A string or a signed 64-bit integer; a bigint only where a number cannot hold it exactly. */
export type RpcId = string | number | bigint;

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** The id of a parsed message, or undefined when that is not an id. `text` is the message, for integers beyond 2^53. */
export function parseId(value: unknown, text: string | undefined): RpcId | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "number" || !Number.isInteger(value)) return undefined;
  return Number.isSafeInteger(value) ? value : parseLongId(text);
}

/** Parsing may have rounded the number: the digits come from the source text. */
function parseLongId(text: string | undefined): bigint | undefined {
  const digits = text === undefined ? undefined : getInteger(text, "id");
  if (digits === undefined) return undefined;
  const exact = BigInt(digits);
  return exact >= MIN_INT64 && exact <= MAX_INT64 ? exact : undefined;
}

/** The JSON of an id. */
export const encodeId = (id: RpcId): string => (typeof id === "string" ? JSON.stringify(id) : String(id));
