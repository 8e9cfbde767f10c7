const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
/** Opening and closing brackets differ from their array forms in this bit alone: `[` | 0x20 is `{`, `]` | 0x20 is `}`. */
const BRACE_BIT = 0x20;
const CLOSE_OBJECT = 0x7d;

/** Up to this many bytes a plain loop is faster than native searches. */
const SHORT_BYTES = 512;

/** Whether UTF-8 JSON nests arrays and objects deeper than `maxDepth`. Linear; for bytes that are no JSON, a guess. */
export function isDeeperThan(json: Uint8Array, maxDepth: number): boolean {
  return json.length > maxDepth && hasMoreOpenings(json, maxDepth) && scanDepth(json, maxDepth);
}

/** A message with few brackets, inside of strings or not, cannot be deep: most messages are done here. */
function hasMoreOpenings(json: Uint8Array, limit: number): boolean {
  if (json.length > SHORT_BYTES) {
    const left = limit - countUpTo(json, OPEN_OBJECT, limit + 1);
    return left < 0 || countUpTo(json, OPEN_ARRAY, left + 1) > left;
  }
  let openings = 0;
  for (let i = 0; i < json.length; i++) {
    if ((json[i]! | BRACE_BIT) === OPEN_OBJECT) openings++;
  }
  return openings > limit;
}

function countUpTo(json: Uint8Array, byte: number, most: number): number {
  let count = 0;
  for (let at = json.indexOf(byte); at !== -1 && count < most; at = json.indexOf(byte, at + 1)) count++;
  return count;
}

function scanDepth(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]!;
    if (byte === QUOTE) {
      i = endOfString(json, i + 1);
    } else if ((byte | BRACE_BIT) === OPEN_OBJECT) {
      depth++;
      if (depth > maxDepth) return true;
    } else if ((byte | BRACE_BIT) === CLOSE_OBJECT) {
      depth--;
    }
  }
  return false;
}

/** Index of the quote that ends the string which begins at `from`, or the length. */
function endOfString(json: Uint8Array, from: number): number {
  let i = from;
  while (i < json.length && json[i] !== QUOTE) i += json[i] === BACKSLASH ? 2 : 1;
  return i;
}
