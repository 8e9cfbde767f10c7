import type { BinaryFrames, Channel, ChannelEnd, CloseOptions, Received } from "@codex/channel";

/**
 * A channel that detects the protocol of its peer. The first request is one of the exec-server protocol; a peer that responds
 * with a message of the executor protocol is an executor. This channel then ends for its reader, and the inner one, which
 * `close` leaves open, can be used from the start.
 */
export class ProtocolProbe implements Channel {
  readonly closed: Promise<ChannelEnd>;
  readonly isPeerAlive?: NonNullable<Channel["isPeerAlive"]>;
  readonly #inner: Channel;
  #isExecutor: boolean | undefined;
  #problem: string | undefined;
  #hasAnswered = false;
  #end!: (end: ChannelEnd) => void;

  constructor(inner: Channel) {
    this.#inner = inner;
    if (inner.isPeerAlive !== undefined) this.isPeerAlive = (deadlineMs) => inner.isPeerAlive!(deadlineMs);
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    void inner.closed.then(this.#end);
  }

  /** Undefined before the first response. */
  get isExecutor(): boolean | undefined {
    return this.#isExecutor;
  }

  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Why the first response is malformed; undefined if it is not, and before it. */
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
    this.#hasAnswered = received !== undefined;
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
