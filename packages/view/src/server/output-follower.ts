import { UNACKNOWLEDGED_BYTES } from "../limits.js";
import type { ServerMessage } from "../wire/messages.js";
import type { OutputPart } from "../wire/port.js";
import type { Hub } from "./hub.js";
import type { Pace } from "./pace.js";

/** The receiver of a follower. */
interface Sink {
  /** False while too much output is buffered. */
  readonly hasRoom: boolean;
  sendFrame(frame: Uint8Array): void;
  send(message: ServerMessage): void;
  readonly pace: Pace;
}

/** Sends the output of one session to one page, as fast as the page acknowledges it, and paced while the program writes. */
export class OutputFollower {
  readonly #hub: Hub;
  readonly #session: number;
  readonly #sink: Sink;
  #next: number;
  #acknowledged: number;
  #isComplete = false;
  #giveUp: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(hub: Hub, session: number, from: number, sink: Sink) {
    this.#hub = hub;
    this.#session = session;
    this.#sink = sink;
    this.#next = from;
    this.#acknowledged = from;
  }

  acknowledge(offset: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, Math.min(offset, this.#next));
    this.continue();
  }

  /** Reads the next output if the page can take it. */
  continue(): void {
    if (this.#isComplete || this.#giveUp !== undefined || this.#timer !== undefined || !this.#sink.hasRoom) return;
    if (this.#next - this.#acknowledged >= UNACKNOWLEDGED_BYTES) return;
    this.#giveUp = this.#hub.read(this.#session, this.#next, (part) => this.#receive(part));
  }

  /** Reads on now: the time is over, or the program has ended. */
  endPause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.continue();
  }

  close(): void {
    this.#isComplete = true;
    clearTimeout(this.#timer);
    this.#giveUp?.();
    this.#giveUp = undefined;
  }

  #receive(part: OutputPart | undefined): void {
    this.#giveUp = undefined;
    if (part === undefined || part.isComplete) this.#isComplete = true;
    if (part !== undefined) this.#sendPart(part);
    if (this.#isComplete) this.#sink.send({ type: "complete", session: this.#session, end: this.#next });
    else this.continue();
  }

  #sendPart({ from, to, frame, gap, pace }: OutputPart): void {
    this.#next = to;
    if (frame !== undefined) {
      this.#sink.sendFrame(frame);
      if (pace !== "none") this.#pause(this.#sink.pace.spend(frame.length, pace));
    } else if (gap !== undefined) {
      this.#sink.send({ type: "gap", session: this.#session, from, to, reason: gap });
      // A gap needs no acknowledgement: the number of unacknowledged bytes stays the same.
      this.#acknowledged += to - from;
    }
  }

  #pause(ms: number): void {
    if (ms > 0) this.#timer = setTimeout(() => this.endPause(), ms);
  }
}
