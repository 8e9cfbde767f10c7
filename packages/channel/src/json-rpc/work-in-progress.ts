import type { PeerLimits } from "./peer-options.js";

/** Work started by a message of the peer that has not finished. */
export interface Work {
  abort(reason: Error): void;
}

/** Messages of the peer in progress (requests until their responses are written), bounded in number and bytes. */
export class WorkInProgress {
  readonly #work = new Map<Work, number>();
  readonly #limits: PeerLimits;
  #bytes = 0;
  #lifted = false;
  #onRoom: (() => void) | undefined;
  #onIdle: (() => void)[] = [];

  constructor(limits: PeerLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    if (this.#lifted) return false;
    return this.#work.size >= this.#limits.maxHandledRequests || this.#bytes >= this.#limits.maxHandledBytes;
  }

  add(work: Work, bytes: number): void {
    this.#work.set(work, bytes);
    this.#bytes += bytes;
  }

  delete(work: Work): void {
    this.#bytes -= this.#work.get(work) ?? 0;
    this.#work.delete(work);
    if (!this.isFull) this.#giveRoom();
    if (this.#work.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Removes the bound once the wire has ended: little is left to read, and work that hangs must not delay the end. */
  lift(): void {
    this.#lifted = true;
    this.#giveRoom();
  }

  /** Resolves when it is not full; for one waiter. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  /** Resolves when no work is left. */
  idle(): Promise<void> {
    return this.#work.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  #giveRoom(): void {
    this.#onRoom?.();
    this.#onRoom = undefined;
  }

  abortAll(reason: Error): void {
    for (const work of this.#work.keys()) work.abort(reason);
  }
}
