import type { TerminalSize } from "@codex/executor-protocol";
import { MAX_RESIZES } from "../limits.js";

/** A change of the size of a terminal, effective from byte `offset` of its output. */
export interface Resize {
  /** Counts from 1. */
  seq: number;
  offset: number;
  /** Milliseconds on the clock of `ExecProcess.startedAt`. */
  at: number;
  size: TerminalSize;
}

/** The sizes that a terminal has had, by offset in its output. */
export class SizeHistory {
  #first: TerminalSize;
  #resizes: Resize[] = [];
  #lastSeq = 0;

  constructor(first: TerminalSize) {
    this.#first = first;
  }

  /** The initial size, or the one before the oldest resize that is retained. */
  get first(): TerminalSize {
    return this.#first;
  }

  /** Later sizes, in order. */
  get resizes(): readonly Resize[] {
    return this.#resizes;
  }

  get last(): TerminalSize {
    return this.#resizes.at(-1)?.size ?? this.#first;
  }

  add(resize: Omit<Resize, "seq">): void {
    this.#lastSeq += 1;
    this.#resizes.push({ seq: this.#lastSeq, ...resize });
    if (this.#resizes.length > MAX_RESIZES) this.#first = this.#resizes.shift()!.size;
  }

  /** The size at an offset of the output. */
  at(offset: number): TerminalSize {
    return this.#resizes.findLast((resize) => resize.offset <= offset)?.size ?? this.#first;
  }

  /** Offset of the next resize after an offset; undefined if there is none. */
  nextAfter(offset: number): number | undefined {
    return this.#resizes.find((resize) => resize.offset > offset)?.offset;
  }
}
