import type { Gauge } from "@codex/telemetry";

/** Bytes of all streams that are behind; shared by all of them. */
export class UnreadBytes {
  readonly #gauge: Gauge;
  readonly #max: number;

  /** @param gauge shows the sum */
  constructor(gauge: Gauge, max: number) {
    this.#gauge = gauge;
    this.#max = max;
  }

  get isOver(): boolean {
    return this.#gauge.value > this.#max;
  }

  /** A share of the sum, 0 at first. Set it to 0 in the end. */
  addShare(): { set(bytes: number): void } {
    let share = 0;
    return {
      set: (bytes) => {
        this.#gauge.value += bytes - share;
        share = bytes;
      },
    };
  }
}
