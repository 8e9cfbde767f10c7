import type { Channel, ChannelEnd, CloseOptions, Received } from "@codex/channel";
import { ChannelError, EncodedResponse, encodeId } from "@codex/channel";

/** A channel that tells when it has room, and makes large answers only then. */
export class PacedChannel implements Channel {
  readonly #channel: Channel;
  readonly isPeerAlive?: (deadlineMs: number) => Promise<boolean>;
  #lastSend: Promise<void> = Promise.resolve();
  #bulk: Promise<void> = Promise.resolve();

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

  sendEncoded(json: Uint8Array): Promise<void> {
    return this.#watch(this.#channel.sendEncoded(json));
  }

  receive(): Promise<Received | undefined> {
    return this.#channel.receive();
  }

  close(options?: CloseOptions): Promise<void> {
    return this.#channel.close(options);
  }

  /**
   * An answer that may be large. They are made one at a time, each when what was sent before it is below the high-water
   * mark: a client that asks for much and reads nothing costs the memory of one. Rejects when nobody can read it.
   */
  bulkAnswer(make: () => Promise<unknown>): Promise<EncodedResponse> {
    const result = this.#bulk.then(() => this.#room()).then(make);
    let release = ignore;
    const sent = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#bulk = result.then(() => sent, ignore);
    return result.then((value) => encodedAnswer(value, release));
  }

  /** Rejects once nothing can be sent any more; what could not be sent for a reason of its own says nothing. */
  #room(): Promise<void> {
    return this.#lastSend.catch((error: unknown) => {
      if (error instanceof ChannelError && error.code === "closed") throw error;
    });
  }

  #watch(sent: Promise<void>): Promise<void> {
    this.#lastSend = sent;
    return sent;
  }
}

/** `onSent` is called right after the answer was handed to the channel. */
export function encodedAnswer(result: unknown, onSent: () => void): EncodedResponse {
  return new EncodedResponse((id) => {
    // The peer sends what this returns in the same turn.
    queueMicrotask(onSent);
    return Buffer.from(`{"id":${encodeId(id)},"result":${JSON.stringify(result)}}`);
  });
}

const ignore = (): void => {};
