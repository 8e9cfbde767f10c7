import type { Clock } from "@codex/clock";
import type { LiveOutput } from "@codex/orchestrator";
import { cutEnd } from "@codex/values";
import { PROGRESS_LINE_LENGTH, PROGRESS_MS, SILENCE_MS } from "../limits.js";

/** Reports the progress of a call to a client that requested it: elapsed time and the last line of output. */
export class Progress {
  readonly #clock: Clock;
  readonly #send: (progress: number, message: string) => void;
  readonly #startedAt: number;
  #sentAt = Number.NEGATIVE_INFINITY;
  #line = "";
  #stop = () => {};
  #isOver = false;

  /** @param send called with the elapsed milliseconds and a line; must not throw */
  constructor(clock: Clock, send: (progress: number, message: string) => void) {
    this.#clock = clock;
    this.#send = send;
    this.#startedAt = clock.now();
    this.#schedule(SILENCE_MS);
  }

  output({ bytes }: LiveOutput): void {
    const text = bytes.subarray(-4 * PROGRESS_LINE_LENGTH).toString("utf8");
    const line = text.split(/[\r\n]+/).findLast((one) => one.trim() !== "");
    if (line !== undefined) this.#line = cutEnd(line.replace(/\p{C}/gu, " "), PROGRESS_LINE_LENGTH);
    const waited = this.#clock.now() - this.#sentAt;
    if (waited >= PROGRESS_MS) this.#notify();
    else this.#schedule(PROGRESS_MS - waited);
  }

  end(): void {
    this.#isOver = true;
    this.#stop();
  }

  #notify(): void {
    if (this.#isOver) return;
    this.#sentAt = this.#clock.now();
    this.#send(Math.round(this.#sentAt - this.#startedAt), this.#line);
    this.#schedule(SILENCE_MS);
  }

  #schedule(ms: number): void {
    this.#stop();
    this.#stop = this.#clock.after(ms, () => this.#notify());
  }
}
