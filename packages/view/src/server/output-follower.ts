import { UNACKNOWLEDGED_BYTES } from "../limits.js";
import type { ServerMessage } from "../wire/messages.js";
import type { Hub, SentPart } from "./hub.js";

/** Where a follower sends to. */
interface Sink {
  /** False while too much waits to be sent. */
  readonly hasRoom: boolean;
  sendFrame(frame: Uint8Array): void;
  send(message: ServerMessage): void;
}

/** Sends the output of one session to one page, as fast as the page acknowledges it. */
export class OutputFollower {
  readonly #hub: Hub;
  readonly #session: number;
  readonly #sink: Sink;
  #next: number;
  #acknowledged: number;
  #isComplete = false;
  #giveUp: (() => void) | undefined;

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

  /** Reads on where there is room for it. */
  continue(): void {
    if (this.#isComplete || this.#giveUp !== undefined || !this.#sink.hasRoom) return;
    if (this.#next - this.#acknowledged >= UNACKNOWLEDGED_BYTES) return;
    this.#giveUp = this.#hub.read(this.#session, this.#next, (part) => this.#receive(part));
  }

  close(): void {
    this.#isComplete = true;
    this.#giveUp?.();
    this.#giveUp = undefined;
  }

  #receive(part: SentPart | undefined): void {
    this.#giveUp = undefined;
    const session = this.#session;
    if (part === undefined || part.isComplete) this.#isComplete = true;
    if (part !== undefined && part.to > part.from) {
      if (part.frame !== undefined) this.#sink.sendFrame(part.frame);
      else this.#sink.send({ type: "gap", session, from: part.from, to: part.to });
      // Nothing has to be shown of a gap: what is unacknowledged stays the same.
      if (part.frame === undefined) this.#acknowledged += part.to - part.from;
      this.#next = part.to;
    }
    if (this.#isComplete) this.#sink.send({ type: "complete", session, end: this.#next });
    else this.continue();
  }
}
