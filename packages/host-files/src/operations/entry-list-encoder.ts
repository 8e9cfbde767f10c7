/** Facts about an entry beside its name. */
export interface EntryFacts {
  isDirectory: boolean;
  isFile: boolean;
  /** Only with `extended`. */
  isSymlink?: boolean;
}

/** The JSON that follows the name of an entry; encoded once for all entries with the same facts. */
export const encodeFacts = (facts: EntryFacts): Buffer => Buffer.from(`,${JSON.stringify(facts).slice(1)}`);

const BEGIN = Buffer.from('{"entries":[');
const FIRST = Buffer.from('{"fileName":');
const NEXT = Buffer.from(',{"fileName":');
const END = Buffer.from("]}");

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PLAIN = 0x20;
const LAST_PLAIN = 0x7e;

/** Size of one output buffer, bytes. */
const BUFFER_BYTES = 64 * 1024;

/** Longest JSON escape of one byte: `\u001f`. */
const MAX_ESCAPED_BYTES = 6;

/** Encodes a ReadDirectoryResult as JSON while its entries arrive. */
export class EntryListEncoder {
  readonly #buffers: Buffer[] = [BEGIN];
  #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #length = 0;
  /** Entries so far. */
  count = 0;

  /** @param names buffer with the name at `from` to `to`. @param facts from `encodeFacts` */
  add(names: Buffer, from: number, to: number, facts: Buffer): void {
    const head = this.count === 0 ? FIRST : NEXT;
    this.#reserve(head.length + (to - from) * MAX_ESCAPED_BYTES + 2 + facts.length);
    const buffer = this.#buffer;
    buffer.set(head, this.#length);
    const at = this.#length + head.length;
    const end = copyPlain(names, from, to, buffer, at) ?? at + buffer.write(toJson(names, from, to), at);
    buffer.set(facts, end);
    this.#length = end + facts.length;
    this.count += 1;
  }

  end(): Buffer {
    return Buffer.concat([...this.#buffers, this.#buffer.subarray(0, this.#length), END]);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    this.#buffers.push(this.#buffer.subarray(0, this.#length));
    this.#buffer = Buffer.allocUnsafe(Math.max(BUFFER_BYTES, bytes));
    this.#length = 0;
  }
}

/** Invalid UTF-8 becomes U+FFFD. */
const toJson = (names: Buffer, from: number, to: number): string => JSON.stringify(names.toString("utf8", from, to));

/** Writes a quoted name and returns its end; undefined if the name needs escaping or is not ASCII. */
function copyPlain(names: Buffer, from: number, to: number, buffer: Buffer, start: number): number | undefined {
  let at = start;
  buffer[at++] = QUOTE;
  for (let index = from; index < to; index += 1) {
    const byte = names[index]!;
    if (byte < FIRST_PLAIN || byte > LAST_PLAIN || byte === QUOTE || byte === BACKSLASH) return undefined;
    buffer[at++] = byte;
  }
  buffer[at++] = QUOTE;
  return at;
}
