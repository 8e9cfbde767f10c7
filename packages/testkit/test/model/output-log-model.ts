import type { OutputLogLimits } from "@codex/exec-backend";

interface Piece {
  seq: number;
  offset: number;
  length: number;
}

/** What an output log must keep, in plain arrays: the first bytes, the last bytes, and between them what came first. */
export class OutputLogModel {
  readonly #limits: OutputLogLimits;
  readonly #canSpill: boolean;
  readonly #head: Piece[] = [];
  readonly #tail: Piece[] = [];
  #spill: Piece[] = [];
  #sealed = false;
  #full = false;
  end = 0;
  lastSeq = 0;
  complete = false;
  readonly #skipped: { from: number; to: number }[] = [];

  constructor(limits: OutputLogLimits, canSpill: boolean) {
    this.#limits = limits;
    this.#canSpill = canSpill && limits.spillBytes > 0;
  }

  append(length: number): void {
    this.lastSeq += 1;
    const piece = { seq: this.lastSeq, offset: this.end, length };
    this.end += length;
    this.#sealed ||= sizeOf(this.#head) + length > this.#limits.headBytes;
    if (!this.#sealed) {
      this.#head.push(piece);
      return;
    }
    this.#tail.push(piece);
    while (this.#tail.length > 1 && sizeOf(this.#tail) > this.#limits.tailBytes) this.#evict(this.#tail.shift()!);
  }

  skip(length: number): void {
    this.#sealed = true;
    this.#skipped.push({ from: this.end, to: this.end + length });
    this.end += length;
  }

  /** Bytes after an offset that were there once. */
  countAfter(from: number): number {
    const lost = this.#skipped.map((gap) => Math.max(0, gap.to - Math.max(from, gap.from)));
    return this.end - from - lost.reduce((sum, bytes) => sum + bytes, 0);
  }

  close(): void {
    this.#spill = [];
    this.#full = true;
  }

  /** The ranges of `[from, to)` that nobody keeps. */
  gaps(from: number, to: number): { from: number; to: number }[] {
    const gaps: { from: number; to: number }[] = [];
    for (let at = from; at < Math.min(to, this.end); at += 1) {
      if (this.#kept(at)) continue;
      const last = gaps.at(-1);
      if (last?.to === at) last.to = at + 1;
      else gaps.push({ from: at, to: at + 1 });
    }
    return gaps;
  }

  offsetAfter(seq: number): number {
    if (seq <= 0) return 0;
    const memory = seq <= (this.#head.at(-1)?.seq ?? 0) ? this.#head : this.#tail;
    const piece = memory.find((candidate) => candidate.seq >= seq);
    if (piece === undefined) return this.end;
    return piece.seq === seq ? piece.offset + piece.length : piece.offset;
  }

  #evict(piece: Piece): void {
    if (!this.#canSpill) return;
    this.#full ||= sizeOf(this.#spill) + piece.length > this.#limits.spillBytes;
    if (!this.#full) this.#spill.push(piece);
  }

  #kept(at: number): boolean {
    const holds = ({ offset, length }: Piece) => at >= offset && at < offset + length;
    return this.#head.some(holds) || this.#spill.some(holds) || this.#tail.some(holds);
  }
}

const sizeOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { length }) => sum + length, 0);
