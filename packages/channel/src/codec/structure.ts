import type { ChannelLimits } from "../limits.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Braces differ from brackets in this bit only: `[` | 0x20 is `{`, `]` | 0x20 is `}`. */
const BRACE_BIT = 0x20;

/** Up to this many bytes a plain loop is faster than native searches. */
const SHORT_BYTES = 512;

export type Excess = "too_deep" | "too_many_values";

/**
 * The limit that the structure of UTF-8 JSON exceeds. Values are counted as opening brackets and commas outside
 * strings. Takes linear time; for bytes that are not JSON the result is approximate.
 */
export function findExcess(json: Uint8Array, limits: ChannelLimits): Excess | undefined {
  return isClearlyWithin(json, limits) ? undefined : scan(json, limits);
}

/** Most messages need no scan, as they have few brackets and commas even with those inside strings. */
function isClearlyWithin(json: Uint8Array, { maxDepth, maxValues }: ChannelLimits): boolean {
  if (json.length <= Math.min(maxDepth, maxValues)) return true;
  const most = Math.min(maxDepth, maxValues);
  const openings = json.length <= SHORT_BYTES ? countOpenings(json) : countNative(json, OPENINGS, most);
  if (openings > most) return false;
  return json.length <= maxValues || countNative(json, COMMAS, maxValues - openings) <= maxValues - openings;
}

const OPENINGS = [OPEN_OBJECT, OPEN_ARRAY];
const COMMAS = [COMMA];

function countOpenings(json: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < json.length; i++) {
    if ((json[i]! | BRACE_BIT) === OPEN_OBJECT) count++;
  }
  return count;
}

/** Counts occurrences of the bytes; stops once the count exceeds `most`. */
function countNative(json: Uint8Array, bytes: readonly number[], most: number): number {
  let count = 0;
  for (const byte of bytes) {
    for (let at = json.indexOf(byte); at !== -1 && count <= most; at = json.indexOf(byte, at + 1)) count++;
  }
  return count;
}

function scan(json: Uint8Array, { maxDepth, maxValues }: ChannelLimits): Excess | undefined {
  let depth = 0;
  let values = 0;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]!;
    if (byte === QUOTE) {
      i = endOfString(json, i + 1);
    } else if (byte === COMMA) {
      if (++values > maxValues) return "too_many_values";
    } else if ((byte | BRACE_BIT) === OPEN_OBJECT) {
      if (++depth > maxDepth) return "too_deep";
      if (++values > maxValues) return "too_many_values";
    } else if ((byte | BRACE_BIT) === CLOSE_OBJECT) {
      depth--;
    }
  }
  return undefined;
}

/** Index of the quote that ends the string which begins at `from`, or the length. */
function endOfString(json: Uint8Array, from: number): number {
  let i = from;
  while (i < json.length && json[i] !== QUOTE) i += json[i] === BACKSLASH ? 2 : 1;
  return i;
}

/** The exceeded limit as part of an error message. */
export function describeExcess(excess: Excess, { maxDepth, maxValues }: ChannelLimits): string {
  return excess === "too_deep"
    ? `nests deeper than ${maxDepth} levels of arrays and objects`
    : `has more than ${maxValues} values`;
}
