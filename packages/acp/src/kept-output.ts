/** The last bytes of an output, up to a limit, starting at a character boundary. */
export class KeptOutput {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #isTruncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isTruncated(): boolean {
    return this.#isTruncated || this.#bytes > this.#limit;
  }

  add(bytes: Uint8Array): void {
    this.#pieces.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    // Drops whole pieces only; `read` cuts the rest.
    for (
      let first = this.#pieces[0];
      first !== undefined && this.#bytes - first.length >= this.#limit;
      first = this.#pieces[0]
    ) {
      this.#pieces.shift();
      this.#bytes -= first.length;
      this.#isTruncated = true;
    }
  }

  /** Records that output is missing, with a line that names the range. */
  markGap({ from, to }: { from: number; to: number }): void {
    this.add(Buffer.from(`\n[bytes ${from}-${to} of the output are gone]\n`));
    this.#isTruncated = true;
  }

  /** As text. An invalid byte counts as the three bytes of its replacement character. */
  read(): string {
    const all = Buffer.concat(this.#pieces);
    const text = fromCharacter(all, this.#limit).toString();
    return Buffer.byteLength(text) <= this.#limit ? text : fromCharacter(Buffer.from(text), this.#limit).toString();
  }
}

/** The last bytes, without the rest of a character that was cut off. */
function fromCharacter(bytes: Buffer, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  const end = bytes.subarray(bytes.length - limit);
  const start = end.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start > 0 && start < 4 ? end.subarray(start) : end;
}
