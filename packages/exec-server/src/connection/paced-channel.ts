import type { Channel, ChannelEnd, CloseOptions, Received } from "@codex/channel";
import { ChannelError } from "@codex/channel";

/** A channel that tells when it has room. */
export class PacedChannel implements Channel {
  readonly #channel: Channel;
  readonly isPeerAlive?: (deadlineMs: number) => Promise<boolean>;
  #lastSend: Promise<void> = Promise.resolve();

  constructor(channel: Channel) {
    this.#channel = channel;
    if (channel.isPeerAlive !== undefined) this.isPeerAlive = (deadlineMs) => channel.isPeerAlive!(deadlineMs);
  }

  get closed(): Promise<ChannelEnd> {
    return this.#channel.closed;
  }

  send(value: unknown): Promise<void> {
    return this.#watch(this.#channel.send(value));
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#watch(this.#channel.sendEncoded(json, onWritten));
  }

  receive(): Promise<Received | undefined> {
    return this.#channel.receive();
  }

  close(options?: CloseOptions): Promise<void> {
    return this.#channel.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Resolves when what was sent before is below the high-water mark. Rejects once nothing can be sent any more.
   */
  room(): Promise<void> {
    return this.#lastSend.catch((error: unknown) => {
      // What could not be sent for a reason of its own says nothing.
      if (error instanceof ChannelError && error.code === "closed") throw error;
    });
  }

  #watch(sent: Promise<void>): Promise<void> {
    this.#lastSend = sent;
    return sent;
  }
}
