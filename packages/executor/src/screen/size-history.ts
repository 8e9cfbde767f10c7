import type { TerminalSize } from "@codex/executor-protocol";
import { MAX_RESIZES } from "../limits.js";

/** From byte `offset` of the output on the terminal has this size. */
export interface Resize {
  /** Counts from 1. */
  seq: number;
  offset: number;
  /** Milliseconds on the clock of `ExecProcess.startedAt`. */
  at: number;
  size: TerminalSize;
}

/** The sizes that a terminal has had, by where in its output they began. */
export class SizeHistory {
  #first: TerminalSize;
  #resizes: Resize[] = [];
  #lastSeq = 0;

  constructor(first: TerminalSize) {
    this.#first = first;
  }

  /** The size at the beginning, or of the time before what is remembered. */
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

  /** The size at a byte of the output. */
  at(offset: number): TerminalSize {
    return this.#resizes.findLast((resize) => resize.offset <= offset)?.size ?? this.#first;
  }

  /** Where the next size begins after a byte of the output; undefined when none does. */
  nextAfter(offset: number): number | undefined {
    return this.#resizes.find((resize) => resize.offset > offset)?.offset;
  }
}
