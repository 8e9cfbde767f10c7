import type { PeerLimits } from "./peer-options.js";

/** Something a message of the peer has set off and that is not over. */
export interface Work {
  abort(reason: Error): void;
}

/** Requests of the peer in work, until their answers are written: bounded in number and in bytes. */
export class HandledRequests {
  readonly #work = new Map<Work, number>();
  readonly #limits: PeerLimits;
  #bytes = 0;
  #onRoom: (() => void) | undefined;
  #onIdle: (() => void)[] = [];

  constructor(limits: PeerLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#work.size >= this.#limits.maxHandledRequests || this.#bytes >= this.#limits.maxHandledBytes;
  }

  add(work: Work, bytes: number): void {
    this.#work.set(work, bytes);
    this.#bytes += bytes;
  }

  delete(work: Work): void {
    this.#bytes -= this.#work.get(work) ?? 0;
    this.#work.delete(work);
    if (this.#onRoom !== undefined && !this.isFull) {
      this.#onRoom();
      this.#onRoom = undefined;
    }
    if (this.#work.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Resolves when it is not full; for one waiter. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  /** Resolves when nothing is in work. */
  idle(): Promise<void> {
    return this.#work.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  abortAll(reason: Error): void {
    for (const work of this.#work.keys()) work.abort(reason);
  }
}
