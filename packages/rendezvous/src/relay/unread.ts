import type { Gauge } from "@codex/telemetry";

/** Total unread bytes of all streams. */
export class UnreadBytes {
  readonly #gauge: Gauge;
  readonly #max: number;

  /** @param gauge reports the total */
  constructor(gauge: Gauge, max: number) {
    this.#gauge = gauge;
    this.#max = max;
  }

  get isOver(): boolean {
    return this.#gauge.value > this.#max;
  }

  /** Creates a share of the total, initially 0. Set it to 0 when done. */
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
