/** A number, a boolean, or a member and its place in an object, bytes. */
const VALUE_BYTES = 16;

/** Approximate bytes that a JSON value takes in memory, for limits of what is retained. Takes linear time, at any depth. */
export function sizeOfJson(value: unknown): number {
  const open = [value];
  let size = 0;
  while (open.length > 0) {
    const next = open.pop();
    size += VALUE_BYTES;
    if (typeof next === "string") size += sizeOfText(next);
    else if (typeof next === "object" && next !== null) for (const member of Object.values(next)) open.push(member);
  }
  return size;
}

/** A string takes a byte for each unit when all of them are below U+0100, otherwise two. */
const sizeOfText = (text: string): number => (/^[\0-\xff]*$/.test(text) ? text.length : 2 * text.length);
