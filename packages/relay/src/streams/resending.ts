import type { Clock } from "@codex/clock";
import { LONGEST_RESEND_MS, RESEND_MS, STALL_MS } from "../limits.js";

/** Notices that nothing is acknowledged any more. */
export class Resending {
  readonly #clock: Clock;
  readonly #on: { again(): void; stalled(ms: number): void };
  /** On the clock; undefined while nothing is waited for. */
  #since: number | undefined;
  #pauseMs = RESEND_MS;
  #cancel = () => {};

  /** @param on `again`: it is time to repeat something; `stalled`: repeating has not helped */
  constructor(clock: Clock, on: { again(): void; stalled(ms: number): void }) {
    this.#clock = clock;
    this.#on = on;
  }

  /** Something is waited for; nothing new where that is so already. */
  start(): void {
    if (this.#since !== undefined) return;
    this.#since = this.#clock.now();
    this.#pauseMs = RESEND_MS;
    this.#schedule();
  }

  /** Some of it has come. */
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
