import type { Clock } from "@codex/clock";
import type { LiveOutput } from "@codex/orchestrator";
import { PROGRESS_LINE_LENGTH, PROGRESS_MS, SILENCE_MS } from "./limits.js";

/** Tells a client that asked for it how a call is getting on: the time, and the last line of output. */
export class Progress {
  readonly #clock: Clock;
  readonly #send: (progress: number, message: string) => void;
  readonly #startedAt: number;
  #sentAt = Number.NEGATIVE_INFINITY;
  #line = "";
  #stop = () => {};
  #isOver = false;

  /** @param send elapsed milliseconds and a line; what it throws is its own matter */
  constructor(clock: Clock, send: (progress: number, message: string) => void) {
    this.#clock = clock;
    this.#send = send;
    this.#startedAt = clock.now();
    this.#schedule(SILENCE_MS);
  }

  output({ bytes }: LiveOutput): void {
    const text = bytes.subarray(-4 * PROGRESS_LINE_LENGTH).toString("utf8");
    const line = text.split(/[\r\n]+/).findLast((one) => one.trim() !== "");
    if (line !== undefined) this.#line = line.replace(/\p{C}/gu, " ").slice(0, PROGRESS_LINE_LENGTH);
    const waited = this.#clock.now() - this.#sentAt;
    if (waited >= PROGRESS_MS) this.#tell();
    else this.#schedule(PROGRESS_MS - waited);
  }

  end(): void {
    this.#isOver = true;
    this.#stop();
  }

  #tell(): void {
    if (this.#isOver) return;
    this.#sentAt = this.#clock.now();
    this.#send(Math.round(this.#sentAt - this.#startedAt), this.#line);
    this.#schedule(SILENCE_MS);
  }

  #schedule(ms: number): void {
    this.#stop();
    this.#stop = this.#clock.after(ms, () => this.#tell());
  }
}
