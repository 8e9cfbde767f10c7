/** Characters of one block of the tail. */
const BLOCK_CHARS = 8192;

/** Accumulates text in bounded memory: keeps the head and the tail, and omits the middle. */
export class OutputText {
  readonly #half: number;
  #head = "";
  /** In blocks: pieces may be single characters. */
  readonly #tail: string[] = [];
  #tailChars = 0;
  #omitted = 0;

  /** @param maxChars characters kept, half of them from the start */
  constructor(maxChars: number) {
    this.#half = Math.floor(maxChars / 2);
  }

  append(text: string): void {
    const room = this.#half - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    const rest = room > 0 ? text.slice(room) : text;
    if (rest === "") return;
    const last = this.#tail.at(-1);
    if (last === undefined || last.length + rest.length > BLOCK_CHARS) this.#tail.push(rest);
    else this.#tail[this.#tail.length - 1] = last + rest;
    this.#tailChars += rest.length;
    while (this.#tailChars > this.#half) this.#dropFirst();
  }

  #dropFirst(): void {
    const first = this.#tail[0]!;
    const over = this.#tailChars - this.#half;
    const dropped = Math.min(over, first.length);
    if (dropped === first.length) this.#tail.shift();
    else this.#tail[0] = first.slice(dropped);
    this.#tailChars -= dropped;
    this.#omitted += dropped;
  }

  toString(): string {
    const gap = this.#omitted === 0 ? "" : `\n[${this.#omitted} characters are not shown here]\n`;
    return this.#head + gap + this.#tail.join("");
  }
}
