import type { Clock } from "@codex/clock";
import { LONGEST_RESEND_MS, RESEND_MS, STALL_MS } from "../limits.js";

/** Detects missing acknowledgements. */
export class Resending {
  readonly #clock: Clock;
  readonly #on: { again(): void; stalled(ms: number): void };
  /** When waiting began, by the clock; undefined while not waiting. */
  #since: number | undefined;
  #pauseMs = RESEND_MS;
  #cancel = () => {};

  /** @param on `again`: resend now; `stalled`: resending did not help */
  constructor(clock: Clock, on: { again(): void; stalled(ms: number): void }) {
    this.#clock = clock;
    this.#on = on;
  }

  /** Starts waiting, unless it already is. */
  start(): void {
    if (this.#since !== undefined) return;
    this.#since = this.#clock.now();
    this.#pauseMs = RESEND_MS;
    this.#schedule();
  }

  /** Call when data was acknowledged. */
  noteProgress(): void {
    if (this.#since === undefined) return;
    this.stop();
    this.start();
  }

  stop(): void {
    this.#since = undefined;
    this.#cancel();
  }

  #schedule(): void {
    this.#cancel = this.#clock.after(this.#pauseMs, () => {
      if (this.#since === undefined) return;
      if (this.#clock.now() - this.#since >= STALL_MS) {
        this.stop();
        this.#on.stalled(STALL_MS);
        return;
      }
      this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_RESEND_MS);
      this.#schedule();
      this.#on.again();
    });
  }
}
