/** What an answer tells of an entry beside its name. */
export interface EntryFacts {
  isDirectory: boolean;
  isFile: boolean;
  /** With `extended` alone. */
  isSymlink?: boolean;
}

/** What follows the name of an entry: made once for all that have the same. */
export const encodeFacts = (facts: EntryFacts): Buffer => Buffer.from(`,${JSON.stringify(facts).slice(1)}`);

const BEGIN = Buffer.from('{"entries":[');
const FIRST = Buffer.from('{"fileName":');
const NEXT = Buffer.from(',{"fileName":');
const END = Buffer.from("]}");

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PLAIN = 0x20;
const LAST_PLAIN = 0x7e;

/** Text that is collected before it is put aside, bytes. */
const STEP_BYTES = 64 * 1024;

/** A byte of a name may take six in JSON. */
const MOST_PER_BYTE = 6;

/** The JSON of a ReadDirectoryResult, written as its entries come. */
export class EntryText {
  readonly #steps: Buffer[] = [BEGIN];
  #step = Buffer.allocUnsafe(STEP_BYTES);
  #length = 0;
  /** Entries so far. */
  count = 0;

  /** @param names where the bytes of the name are; @param facts as `encodeFacts` makes them */
  add(names: Buffer, from: number, to: number, facts: Buffer): void {
    const head = this.count === 0 ? FIRST : NEXT;
    this.#reserve(head.length + (to - from) * MOST_PER_BYTE + 2 + facts.length);
    const step = this.#step;
    step.set(head, this.#length);
    const at = this.#length + head.length;
    const end = copyPlain(names, from, to, step, at) ?? at + step.write(toJson(names, from, to), at);
    step.set(facts, end);
    this.#length = end + facts.length;
    this.count += 1;
  }

  end(): Buffer {
    return Buffer.concat([...this.#steps, this.#step.subarray(0, this.#length), END]);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#step.length) return;
    this.#steps.push(this.#step.subarray(0, this.#length));
    this.#step = Buffer.allocUnsafe(Math.max(STEP_BYTES, bytes));
    this.#length = 0;
  }
}

/** Bytes that are no UTF-8 become U+FFFD. */
const toJson = (names: Buffer, from: number, to: number): string => JSON.stringify(names.toString("utf8", from, to));

/** Writes a name in quotes and returns where it ends; undefined where JSON has another form for it. */
function copyPlain(names: Buffer, from: number, to: number, step: Buffer, start: number): number | undefined {
  let at = start;
  step[at++] = QUOTE;
  for (let index = from; index < to; index += 1) {
    const byte = names[index]!;
    if (byte < FIRST_PLAIN || byte > LAST_PLAIN || byte === QUOTE || byte === BACKSLASH) return undefined;
    step[at++] = byte;
  }
  step[at++] = QUOTE;
  return at;
}
