/** A first-in, first-out queue with constant-time operations at any length, unlike `Array.shift`. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) this.clear();
    else if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#items.length) this.#compact();
    return item;
  }

  clear(): void {
    this.#items = this.#items.length > COMPACT_AT ? [] : this.#items;
    this.#items.length = 0;
    this.#head = 0;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

/** Number of free slots at the front from which the array is compacted. */
const COMPACT_AT = 1024;
