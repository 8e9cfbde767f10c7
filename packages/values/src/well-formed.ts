/**
 * Serializes a value as JSON of Unicode text: half of a surrogate pair, in a string or a key, becomes U+FFFD. Strict readers
 * refuse such halves, which `JSON.stringify` writes as escapes.
 */
export function stringifyWellFormed(value: unknown): string {
  const json = JSON.stringify(value);
  return json?.includes("\\ud") ? json.replace(ESCAPE, (found) => (found === "\\\\" ? found : "\ufffd")) : json;
}

/** `JSON.stringify` escapes only the halves of pairs with `\ud`; an escaped backslash may be in front of the same letters. */
const ESCAPE = /\\\\|\\ud[89a-f][0-9a-f]{2}/g;

/**
 * A JSON value with U+FFFD for each half of a surrogate pair, in strings and keys. What is well-formed is returned as it is;
 * nothing is modified.
 */
export function toWellFormed<Value>(value: Value): Value {
  return heal(value) as Value; // same shape: only characters of strings and keys differ
}

function heal(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) {
    const healed = value.map(heal);
    return healed.some((one, index) => one !== value[index]) ? healed : value;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const healed = entries.map(([key, one]): [string, unknown] => [key.toWellFormed(), heal(one)]);
  const isSame = healed.every(([key, one], index) => key === entries[index]![0] && one === entries[index]![1]);
  return isSame ? value : Object.fromEntries(healed);
}

/** Bytes and other class instances are no JSON. */
const isPlainObject = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
