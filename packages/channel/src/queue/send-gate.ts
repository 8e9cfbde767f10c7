/** The amount of data waiting to be written, in a unit chosen by the channel. */
export interface SendBacklog {
  isFull(): boolean;
  hasRoom(): boolean;
}

/** Blocks senders while the backlog is full, and releases all of them once it has room. */
export class SendGate {
  readonly #backlog: SendBacklog;
  #held: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #error: Error | undefined;

  constructor(backlog: SendBacklog) {
    this.#backlog = backlog;
  }

  /** The promise that a send returns once its message is in the backlog. */
  pass(): Promise<void> {
    if (this.#error !== undefined) return rejected(this.#error);
    if (!this.#backlog.isFull()) return PASSED;
    return tolerated(new Promise((resolve, reject) => this.#held.push({ resolve, reject })));
  }

  /** Call when the backlog has shrunk. */
  release(): void {
    if (this.#held.length > 0 && this.#backlog.hasRoom()) this.open();
  }

  /** Releases all blocked senders, as everything in the backlog is certain to be delivered. */
  open(): void {
    for (const sender of this.#takeHeld()) sender.resolve();
  }

  /** Rejects blocked and later senders, as nothing more will be delivered. */
  fail(error: Error): void {
    this.#error ??= error;
    for (const sender of this.#takeHeld()) sender.reject(error);
  }

  #takeHeld() {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}

const PASSED: Promise<void> = Promise.resolve();

/** A rejection that is not reported as unhandled if it is never awaited. */
export const rejected = (error: unknown): Promise<never> => tolerated(Promise.reject(error));

function tolerated<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
