import type { Channel, ChannelEnd, CloseOptions, Received } from "@codex/channel";
import { ChannelError } from "@codex/channel";

/** A channel whose back-pressure can be awaited without sending. */
export class PacedChannel implements Channel {
  readonly #channel: Channel;
  readonly isPeerAlive?: (deadlineMs: number) => Promise<boolean>;
  #lastSend: Promise<void> = Promise.resolve();
  #received = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
    if (channel.isPeerAlive !== undefined) this.isPeerAlive = (deadlineMs) => channel.isPeerAlive!(deadlineMs);
  }

  get closed(): Promise<ChannelEnd> {
    return this.#channel.closed;
  }

  send(value: unknown): Promise<void> {
    return this.#track(this.#channel.send(value));
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#track(this.#channel.sendEncoded(json, onWritten));
  }

  /** Grows with each message that is received. */
  get received(): number {
    return this.#received;
  }

  receive(): Promise<Received | undefined> {
    this.#received += 1;
    return this.#channel.receive();
  }

  close(options?: CloseOptions): Promise<void> {
    return this.#channel.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Resolves when the messages sent so far are below the high-water mark. Rejects once the channel is closed. */
  waitForRoom(): Promise<void> {
    return this.#lastSend.catch((error: unknown) => {
      // A message that was refused for its content says nothing about the channel.
      if (error instanceof ChannelError && error.code === "closed") throw error;
    });
  }

  #track(sent: Promise<void>): Promise<void> {
    this.#lastSend = sent;
    return sent;
  }
}
