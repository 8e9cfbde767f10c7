import type { Channel, ChannelEnd, CloseOptions, Received } from "@codex/channel";
import type { Random } from "../random.js";

/** Probabilities of faults, 0 to 1. Order is never changed, as no transport does that. */
export interface FlakyOptions {
  random: Random;
  /** Received messages after which the channel ends, the last one delivered or not. */
  cutAfter?: number;
  /** Repeated messages; only for responses and numbered notifications, which may be repeated. */
  duplicate?: { chance: number; fits(value: unknown): boolean };
  /**
   * Lost messages, as with a failing relay: the channel breaks soon after. Messages until then show the receiver that one is
   * missing.
   */
  drop?: { chance: number; fits(value: unknown): boolean };
  /** Maximum delay of a received message, milliseconds. */
  delayMs?: number;
  note(text: string): void;
}

/** A channel whose received messages are delayed, repeated or lost, or which ends too early. Sent messages are unchanged. */
export function createFlakyChannel(inner: Channel, options: FlakyOptions): Channel {
  const { random, duplicate, drop, delayMs = 0, note } = options;
  const again: Received[] = [];
  let left = options.cutAfter ?? Number.POSITIVE_INFINITY;

  const cut = async () => {
    note("channel: cut");
    await inner.close({ abrupt: true });
  };
  const receive = async (): Promise<Received | undefined> => {
    const repeated = again.shift();
    if (repeated !== undefined) return repeated;
    for (;;) {
      const received = await inner.receive();
      if (received === undefined) return undefined;
      if (left <= 0) {
        await cut();
        return undefined;
      }
      left -= 1;
      if (delayMs > 0 && random.chance(0.1)) await sleep(random.between(0, delayMs));
      const value = received.kind === "value" ? received.value : undefined;
      if (drop?.fits(value) && random.chance(drop.chance)) {
        note("channel: drop");
        setTimeout(cut, CUT_AFTER_DROP_MS);
        continue;
      }
      if (duplicate?.fits(value) && random.chance(duplicate.chance)) {
        note("channel: duplicate");
        again.push(received);
      }
      return received;
    }
  };
  return {
    send: (value) => inner.send(value),
    sendEncoded: (json) => inner.sendEncoded(json),
    receive,
    close: (closing?: CloseOptions) => inner.close(closing),
    [Symbol.asyncDispose]: () => inner.close(),
    get closed(): Promise<ChannelEnd> {
      return inner.closed;
    },
    ...(inner.isPeerAlive === undefined ? {} : { isPeerAlive: (ms: number) => inner.isPeerAlive!(ms) }),
  };
}

const CUT_AFTER_DROP_MS = 30;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
