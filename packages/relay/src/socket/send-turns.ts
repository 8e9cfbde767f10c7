import { SOCKET_HIGH_WATER_BYTES } from "../limits.js";

/** A stream with data to send. */
export interface Sender {
  /** Sends at most one frame. Returns whether more can be sent now. */
  sendNext(): boolean;
}

/** Round-robin scheduling of the streams of one socket, one frame per turn, while the socket has room. */
export class SendTurns {
  readonly #getWaitingBytes: () => number;
  readonly #ready = new Set<Sender>();
  #isRunning = false;

  /** @param getWaitingBytes returns the unsent bytes in the socket */
  constructor(getWaitingBytes: () => number) {
    this.#getWaitingBytes = getWaitingBytes;
  }

  /** Adds a sender that has data. */
  request(sender: Sender): void {
    this.#ready.add(sender);
    this.run();
  }

  /** Removes a sender. */
  remove(sender: Sender): void {
    this.#ready.delete(sender);
  }

  /** Call when the socket has written data. */
  run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    // A set iterates in insertion order: the first one has waited longest.
    for (const sender of this.#ready) {
      if (this.#getWaitingBytes() >= SOCKET_HIGH_WATER_BYTES) break;
      this.#ready.delete(sender);
      if (sender.sendNext()) this.#ready.add(sender);
    }
    this.#isRunning = false;
  }
}
