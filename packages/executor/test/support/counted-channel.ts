import type { Channel, CloseOptions } from "@codex/channel";

/** A channel that counts the messages that were handed to it and not taken yet. */
export class CountedChannel implements Channel {
  /** The largest number there was. */
  most = 0;
  #waiting = 0;
  readonly #channel: Channel;
  readonly #watchers = new Set<() => void>();

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  get closed() {
    return this.#channel.closed;
  }

  async untilWaiting(count: number): Promise<void> {
    while (this.#waiting < count) {
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  send(value: unknown): Promise<void> {
    return this.#count(this.#channel.send(value));
  }

  sendEncoded(json: Uint8Array): Promise<void> {
    return this.#count(this.#channel.sendEncoded(json));
  }

  receive() {
    return this.#channel.receive();
  }

  close(options?: CloseOptions): Promise<void> {
    return this.#channel.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #count(sent: Promise<void>): Promise<void> {
    this.#waiting += 1;
    this.most = Math.max(this.most, this.#waiting);
    for (const watcher of this.#watchers) watcher();
    this.#watchers.clear();
    try {
      await sent;
    } finally {
      this.#waiting -= 1;
    }
  }
}
