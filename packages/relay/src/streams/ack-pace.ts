import type { Clock } from "@codex/clock";
import { ACK_BYTES, ACK_DELAY_MS, ACK_RECORDS } from "../limits.js";

/** Decides when to acknowledge received records: immediately when necessary, else several together. */
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

  /** Call for a record of `bytes` bytes that arrived in order. */
  noteReceived(bytes: number): void {
    this.#records += 1;
    this.#bytes += bytes;
  }

  /** Schedules an acknowledgement. */
  note({ isUrgent }: { isUrgent: boolean }): void {
    if (isUrgent || this.#records >= ACK_RECORDS || this.#bytes >= ACK_BYTES) this.#acknowledge();
    else this.#cancel ??= this.#clock.after(ACK_DELAY_MS, () => this.#acknowledge());
  }

  /** Call when an acknowledgement was sent. */
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
