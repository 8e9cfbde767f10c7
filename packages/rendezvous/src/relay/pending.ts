import type { Clock } from "@codex/clock";

/** A stream that is queued, or waits for its first response. */
export interface PendingStream {
  /** Call when it has its response or is gone; the next one may begin. Idempotent. */
  end(): void;
}

/** Limits how many streams of one executor begin concurrently: Codex resets those above its limit. */
export class PendingStreams {
  readonly #clock: Pick<Clock, "after">;
  readonly #max: number;
  /** Time after which a stream without a response no longer counts, milliseconds. */
  readonly #timeoutMs: number;
  readonly #waiting = new Set<() => void>();
  #count = 0;

  constructor(clock: Pick<Clock, "after">, max: number, timeoutMs: number) {
    this.#clock = clock;
    this.#max = max;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `begin` when the stream may begin, possibly synchronously. */
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
