import type { BinaryFrames, Channel, ChannelEnd, CloseOptions, Received } from "@codex/channel";

/**
 * A channel to a far side that has not answered yet. A request of the exec-server protocol is sent over it: what answers
 * with a message of the executor protocol is an executor. Then this channel has ended for its reader, and the inner one,
 * which `close` leaves open, is as good as new.
 */
export class FirstAnswer implements Channel {
  readonly closed: Promise<ChannelEnd>;
  readonly isPeerAlive?: NonNullable<Channel["isPeerAlive"]>;
  readonly #inner: Channel;
  #isExecutor: boolean | undefined;
  #problem: string | undefined;
  #end!: (end: ChannelEnd) => void;

  constructor(inner: Channel) {
    this.#inner = inner;
    if (inner.isPeerAlive !== undefined) this.isPeerAlive = (deadlineMs) => inner.isPeerAlive!(deadlineMs);
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    void inner.closed.then(this.#end);
  }

  /** Undefined before the first answer. */
  get isExecutor(): boolean | undefined {
    return this.#isExecutor;
  }

  /** Why its first answer is no message; undefined where it is one, and before it. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get binary(): BinaryFrames | undefined {
    return this.#inner.binary;
  }

  send(value: unknown): Promise<void> {
    return this.#inner.send(value);
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#inner.sendEncoded(json, onWritten);
  }

  receive(): Promise<Received | undefined> {
    return this.#isExecutor === false ? this.#inner.receive() : this.#receiveFirst();
  }

  async #receiveFirst(): Promise<Received | undefined> {
    if (this.#isExecutor === true) return undefined;
    const received = await this.#inner.receive();
    if (received?.kind !== "value" || !isExecutorMessage(received.value)) {
      this.#isExecutor = false;
      if (received?.kind === "malformed") this.#problem = received.problem;
      return received;
    }
    this.#isExecutor = true;
    this.#end({ kind: "peer_closed", detail: "it is an executor" });
    return undefined;
  }

  async close(options?: CloseOptions): Promise<void> {
    if (this.#isExecutor !== true) await this.#inner.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Messages of the executor protocol have a `type`, those of JSON-RPC an `id` or a `method`. */
const isExecutorMessage = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  "type" in value &&
  typeof value.type === "string" &&
  !("id" in value) &&
  !("method" in value);
