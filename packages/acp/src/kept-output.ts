/** The last bytes of an output, up to a limit, starting at a character boundary. */
export class KeptOutput {
  readonly #limit: number;
  /** At most twice the limit: pieces may be single bytes, and a buffer for each would take a hundred times as much memory. */
  #kept: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #isTruncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isTruncated(): boolean {
    return this.#isTruncated || this.#bytes > this.#limit;
  }

  add(bytes: Uint8Array): void {
    const last = bytes.subarray(Math.max(0, bytes.length - this.#limit));
    this.#isTruncated ||= last.length < bytes.length;
    if (this.#bytes + last.length > this.#kept.length) this.#makeRoom(last.length);
    this.#kept.set(last, this.#bytes);
    this.#bytes += last.length;
  }

  /** Doubles the buffer up to twice the limit; then the last bytes move to its beginning. */
  #makeRoom(bytes: number): void {
    const most = 2 * this.#limit;
    const needed = this.#bytes + bytes;
    const start = needed <= most ? 0 : Math.max(0, this.#bytes - this.#limit);
    const size = Math.min(most, Math.max(needed, 2 * this.#kept.length, 1024));
    const target = size > this.#kept.length ? Buffer.allocUnsafeSlow(size) : this.#kept;
    this.#kept.copy(target, 0, start, this.#bytes);
    this.#kept = target;
    this.#bytes -= start;
    this.#isTruncated ||= start > 0;
  }

  /** Records that output is missing, with a line that names the range. */
  markGap({ from, to }: { from: number; to: number }): void {
    this.add(Buffer.from(`\n[bytes ${from}-${to} of the output are gone]\n`));
    this.#isTruncated = true;
  }

  /** As text. An invalid byte counts as the three bytes of its replacement character. */
  read(): string {
    const all = this.#kept.subarray(0, this.#bytes);
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
