import { SOCKET_HIGH_WATER_BYTES } from "../limits.js";

/** A stream with something to send. */
export interface Sender {
  /** Sends at most one frame. Returns whether there is more that may be sent now. */
  sendNext(): boolean;
}

/** Lets the streams of one socket send in turns, a frame each, as far as the socket has room: none waits for all of another. */
export class SendTurns {
  readonly #getWaitingBytes: () => number;
  readonly #ready = new Set<Sender>();
  #isRunning = false;

  /** @param getWaitingBytes bytes that wait in the socket */
  constructor(getWaitingBytes: () => number) {
    this.#getWaitingBytes = getWaitingBytes;
  }

  /** The sender has something to send. */
  request(sender: Sender): void {
    this.#ready.add(sender);
    this.run();
  }

  /** The sender has ended. */
  remove(sender: Sender): void {
    this.#ready.delete(sender);
  }

  /** Call when the socket has written something. */
  run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    // A set keeps the order in which its members were added: the first one is the longest without a turn.
    for (const sender of this.#ready) {
      if (this.#getWaitingBytes() >= SOCKET_HIGH_WATER_BYTES) break;
      this.#ready.delete(sender);
      if (sender.sendNext()) this.#ready.add(sender);
    }
    this.#isRunning = false;
  }
}
