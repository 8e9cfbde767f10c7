import type { Clock } from "@codex/clock";
import { ACK_BYTES, ACK_DELAY_MS, ACK_RECORDS } from "../limits.js";

/** Decides when received records are acknowledged: at once where it matters, else several together. */
export class AckPace {
  readonly #clock: Clock;
  readonly #acknowledge: () => void;
  #records = 0;
  #bytes = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, acknowledge: () => void) {
    this.#clock = clock;
    this.#acknowledge = acknowledge;
  }

  /** A record of so many bytes has come, in its turn. */
  noteReceived(bytes: number): void {
    this.#records += 1;
    this.#bytes += bytes;
  }

  /** There is something to acknowledge. */
  note({ isUrgent }: { isUrgent: boolean }): void {
    if (isUrgent || this.#records >= ACK_RECORDS || this.#bytes >= ACK_BYTES) this.#acknowledge();
    else this.#cancel ??= this.#clock.after(ACK_DELAY_MS, () => this.#acknowledge());
  }

  /** An acknowledgement was sent, for whatever reason. */
  noteSent(): void {
    this.stop();
    this.#records = 0;
    this.#bytes = 0;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
