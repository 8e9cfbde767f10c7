import type { Item } from "../items.js";

/** Bytes of the first buffer; each further one has twice the size. */
const FIRST_BYTES = 64 * 1024;

/**
 * The items of a history as JSON, separated by commas, in one growing buffer: if a history continues the last one, only its new items
 * are serialized. Bytes that were returned are never changed. Items must not be modified after they were written.
 * @param toJson serializes an item that was not written before
 */
export function createWrittenItems(
  toJson: (item: Item) => string,
): (items: readonly Item[]) => Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const written = new WeakMap<Item, Uint8Array>();
  let buffer = new Uint8Array(FIRST_BYTES);
  /** The items in the buffer, in order. */
  let known: Item[] = [];
  let used = 0;

  const put = (item: Item): void => {
    const bytes = written.get(item) ?? encoder.encode(toJson(item));
    const start = known.length === 0 ? 0 : used + 1;
    const end = start + bytes.length;
    if (end > buffer.length) grow(end);
    if (start > 0) buffer[start - 1] = COMMA;
    buffer.set(bytes, start);
    written.set(item, buffer.subarray(start, end));
    known.push(item);
    used = end;
  };
  const grow = (size: number): void => {
    const larger = new Uint8Array(Math.max(size, 2 * buffer.length));
    larger.set(buffer.subarray(0, used));
    // The previous buffer is released: nothing but requests in progress refers to it.
    for (const item of known) {
      const { byteOffset, length } = written.get(item)!;
      written.set(item, larger.subarray(byteOffset, byteOffset + length));
    }
    buffer = larger;
  };
  return (items) => {
    const isContinued = items.length >= known.length && known.every((item, index) => item === items[index]);
    if (!isContinued) {
      buffer = new Uint8Array(FIRST_BYTES);
      known = [];
      used = 0;
    }
    for (let index = known.length; index < items.length; index += 1) put(items[index]!);
    return buffer.subarray(0, used);
  };
}

const COMMA = 0x2c;
