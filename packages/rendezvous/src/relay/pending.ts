import type { Clock } from "@codex/clock";

/** A stream that waits for its turn, or whose first answer is awaited. */
export interface PendingStream {
  /** It has its answer or is gone; the next one may begin. Idempotent. */
  end(): void;
}

/** Lets only so many streams of one executor begin at the same time: Codex's resets those above its limit. */
export class PendingStreams {
  readonly #clock: Pick<Clock, "after">;
  readonly #max: number;
  /** After which a stream without an answer no longer counts, milliseconds. */
  readonly #timeoutMs: number;
  readonly #waiting = new Set<() => void>();
  #count = 0;

  constructor(clock: Pick<Clock, "after">, max: number, timeoutMs: number) {
    this.#clock = clock;
    this.#max = max;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `begin` when the stream may begin, perhaps within this call. */
  add(begin: () => void): PendingStream {
    let cancel = () => {};
    let state: "waiting" | "begun" | "ended" = "waiting";
    const end = () => {
      const was = state;
      state = "ended";
      this.#waiting.delete(start);
      cancel();
      if (was !== "begun") return;
      this.#count -= 1;
      this.#startNext();
    };
    const start = () => {
      state = "begun";
      this.#count += 1;
      cancel = this.#clock.after(this.#timeoutMs, end);
      begin();
    };
    this.#waiting.add(start);
    this.#startNext();
    return { end };
  }

  #startNext(): void {
    while (this.#count < this.#max) {
      const [start] = this.#waiting;
      if (start === undefined) return;
      this.#waiting.delete(start);
      start();
    }
  }
}
