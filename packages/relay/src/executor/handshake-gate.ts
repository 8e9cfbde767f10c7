import type { Clock } from "@codex/clock";
import { HANDSHAKE_PAUSE_MS, MAX_FAILED_HANDSHAKES } from "../limits.js";

/** Refuses handshakes for a while after many have failed: checking one costs more than sending it. */
export class HandshakeGate {
  readonly #clock: Clock;
  #failures = 0;
  #closedUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#clock.now() >= this.#closedUntil;
  }

  noteFailure(): void {
    this.#failures += 1;
    if (this.#failures < MAX_FAILED_HANDSHAKES) return;
    this.#failures = 0;
    this.#closedUntil = this.#clock.now() + HANDSHAKE_PAUSE_MS;
  }

  noteSuccess(): void {
    this.#failures = 0;
  }
}
