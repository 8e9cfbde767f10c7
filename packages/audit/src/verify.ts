import { type AuditRecord, type ChainHead, GENESIS, parseRecord, sha256 } from "./chain.js";

/** An intact chain so far, or where it is broken. */
export type ChainCheck =
  | { kind: "intact"; head: ChainHead; records: number; torn: number; lost: number }
  | { kind: "broken"; line: number; reason: string };

/**
 * Verifies a chain line by line, over files in their order. Without a known head it cannot detect that the end was cut off
 * or that the whole log was rewritten.
 */
export class ChainVerifier {
  readonly #knownHead: ChainHead | undefined;
  #head: ChainHead | undefined;
  #records = 0;
  #torn = 0;
  #lost = 0;
  #unparsed: { line: number; text: string } | undefined;
  #broken: ChainCheck | undefined;
  #line = 0;

  readonly #start: "first" | "anywhere";

  /**
   * @param knownHead a record that is known to be in the chain
   * @param start whether the first line is the first of the chain, or of a file; or any
   */
  constructor(knownHead?: ChainHead, start: "first" | "anywhere" = "first") {
    this.#knownHead = knownHead;
    this.#start = start;
  }

  get result(): ChainCheck {
    if (this.#broken !== undefined) return this.#broken;
    if (this.#unparsed !== undefined) return this.#fail("the line is not a record", this.#unparsed.line);
    const { seq } = this.#head ?? GENESIS;
    if (this.#knownHead !== undefined && this.#knownHead.seq > seq) {
      return this.#fail(
        `it ends with record ${seq}, and record ${this.#knownHead.seq} is known to have been there`,
        this.#line + 1,
      );
    }
    const counts = { records: this.#records, torn: this.#torn, lost: this.#lost };
    return { kind: "intact", head: this.#head ?? GENESIS, ...counts };
  }

  /** Starts the next file of the chain, with line number 1. */
  nextFile(): void {
    this.#line = 0;
  }

  /** Adds a line without its line end. Returns false once the chain is broken. */
  add(text: string): boolean {
    if (this.#broken !== undefined) return false;
    this.#line++;
    const record = parseRecord(text);
    if (record === undefined) {
      const { line, text: before } = this.#unparsed ?? { line: this.#line, text: undefined };
      this.#unparsed = { line, text: before === undefined ? text : `${before}\n${text}` };
    } else {
      this.#follow(record, text);
    }
    return this.#broken === undefined;
  }

  /** The file ends in the middle of a line. */
  addTorn(text: string): void {
    this.#line++;
    const bytes = Buffer.byteLength(text);
    this.#fail(
      `the file ends in the middle of a record (${bytes} bytes of it); the next one will be marked`,
      this.#line,
    );
  }

  #follow(record: AuditRecord, text: string): void {
    const head = this.#head ?? this.#begin(record);
    if (head === undefined) return;
    const problem = this.#problemOf(record, head);
    if (problem !== undefined) return void this.#fail(problem, this.#unparsed?.line ?? this.#line);
    if (this.#unparsed !== undefined) this.#torn++;
    if (record.type === "lost") this.#lost += Number(record.records);
    this.#unparsed = undefined;
    this.#head = { seq: record.seq, hash: sha256(text) };
    this.#records++;
    if (this.#knownHead?.seq === record.seq && this.#knownHead.hash !== this.#head.hash) {
      this.#fail(`record ${record.seq} is not the one that is known to have been there`, this.#line);
    }
  }

  #begin(record: AuditRecord): ChainHead | undefined {
    if (record.seq === 1) return GENESIS;
    if (record.type === "rotated" || this.#start === "anywhere") return { seq: record.seq - 1, hash: record.prev };
    this.#fail(`record ${record.seq} is the first; expected record 1, or one that names the previous file`, this.#line);
    return undefined;
  }

  #problemOf(record: AuditRecord, head: ChainHead): string | undefined {
    if (this.#unparsed !== undefined && !isMarked(this.#unparsed.text, record)) return "the line is not a record";
    if (record.seq !== head.seq + 1) {
      return `record ${record.seq} follows record ${head.seq}; expected record ${head.seq + 1}: records were removed, added or moved`;
    }
    if (record.prev !== head.hash) {
      return `record ${record.seq} does not carry the hash of record ${head.seq}: one of the two was changed`;
    }
    if (record.type !== "gap") return undefined;
    return `before record ${record.seq} the file had lost its end: it had gone up to record ${String(record.lastSeq)}`;
  }

  #fail(reason: string, line: number): ChainCheck {
    this.#broken = { kind: "broken", line, reason };
    return this.#broken;
  }
}

const isMarked = (text: string, record: AuditRecord) =>
  record.type === "torn" && record.bytes === Buffer.byteLength(text) && record.sha256 === sha256(text);
