import { readFrameHead } from "@codex/relay";
import type { Random } from "../random.js";

/** A fault of one frame, of one socket, or of nodes. */
export type FaultKind = (typeof KINDS)[number];

/** Their frequency is in `WEIGHTS`: most are faults of frames. */
const KINDS = ["drop", "double", "delay", "cut", "silence", "kill", "kill-all"] as const;
const WEIGHTS: Readonly<Record<FaultKind, number>> = {
  drop: 300,
  double: 260,
  delay: 300,
  cut: 110,
  silence: 4,
  kill: 22,
  "kill-all": 4,
};

/** Decides which frames have a fault, until the requested number is reached. */
export class FrameFaults {
  readonly counts: Record<FaultKind, number> = {
    drop: 0,
    double: 0,
    delay: 0,
    cut: 0,
    silence: 0,
    kill: 0,
    "kill-all": 0,
  };
  /** No faults until it is set: before its first response a stream may be one of Codex, which cannot resume. */
  isArmed = false;
  readonly #random: Random;
  readonly #total: number;
  #untilNext: number;

  constructor(random: Random, total: number) {
    this.#random = random;
    this.#total = total;
    this.#untilNext = random.between(1, 30);
  }

  get done(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  get isOver(): boolean {
    return this.done >= this.#total;
  }

  /** The fault of a frame; undefined for most. Handshakes and resets have none: losing one costs 15 s by design. */
  next(frame: Buffer): FaultKind | undefined {
    if (!this.isArmed || this.isOver || !["data", "ack"].includes(readFrameHead(frame)?.kind ?? "")) return undefined;
    this.#untilNext -= 1;
    if (this.#untilNext > 0) return undefined;
    this.#untilNext = this.#random.between(1, 30);
    const kind = this.#pick();
    this.counts[kind] += 1;
    return kind;
  }

  /** How many frames pass before a delayed one. */
  delay(): number {
    return this.#random.between(1, 5);
  }

  #pick(): FaultKind {
    let at = this.#random.next() * Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);
    for (const kind of KINDS) {
      at -= WEIGHTS[kind];
      if (at < 0) return kind;
    }
    return "drop";
  }
}
