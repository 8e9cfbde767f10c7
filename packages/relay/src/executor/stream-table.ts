import { randomUUID } from "node:crypto";
import type { Channel, ChannelLimits } from "@codex/channel";
import type { Clock } from "@codex/clock";
import { DETACHED_MS } from "../limits.js";
import { RelayedStream } from "../streams/relayed-stream.js";

/** What is known of a stream. */
export interface StreamInfo {
  streamId: string;
  /** Fingerprint of the key of the harness, which the handshake has proved. */
  harness: string;
}

/** What a stream is on at present. */
export interface StreamPlace {
  /** The stream is of no use here any more: forgets it, and tells the peer. */
  reset(): void;
}

interface Kept {
  stream: RelayedStream;
  harness: string;
  place: StreamPlace | undefined;
  cancelExpiry: () => void;
}

/** The streams of an executor, which outlive its sockets where their harness can come back to them. */
export class StreamTable {
  readonly #clock: Clock;
  readonly #limits: Partial<ChannelLimits> | undefined;
  readonly #onStream: (channel: Channel, info: StreamInfo) => void;
  readonly #all = new Set<Kept>();

  constructor(options: {
    clock: Clock;
    limits?: Partial<ChannelLimits> | undefined;
    /** Gets the channel of each new stream, and owns it. */
    onStream(channel: Channel, info: StreamInfo): void;
  }) {
    this.#clock = options.clock;
    this.#limits = options.limits;
    this.#onStream = options.onStream;
  }

  /** Number of streams, those without a socket included. */
  get count(): number {
    return this.#all.size;
  }

  /** A new stream in this place. */
  create(info: StreamInfo, place: StreamPlace): RelayedStream {
    const stream = new RelayedStream({
      role: "executor",
      clock: this.#clock,
      limits: this.#limits,
      createSessionId: randomUUID,
      onBroken: (reason) => {
        kept.place?.reset();
        this.leave(stream, reason);
      },
      onEnded: () => {
        kept.cancelExpiry();
        this.#all.delete(kept);
        kept.place?.reset();
      },
    });
    const kept: Kept = { stream, harness: info.harness, place, cancelExpiry: () => {} };
    this.#all.add(kept);
    this.#onStream(stream.channel, info);
    return stream;
  }

  /** The stream of a session, now in another place; undefined where there is none of this harness. The newest place wins. */
  move(session: string, harness: string, place: StreamPlace): RelayedStream | undefined {
    const kept = [...this.#all].find((each) => each.stream.isResumable && each.stream.session === session);
    if (kept === undefined || kept.harness !== harness) return undefined;
    kept.place?.reset();
    kept.place = place;
    kept.cancelExpiry();
    return kept.stream;
  }

  /** A new stream turned out not to be one. */
  discard(stream: RelayedStream): void {
    for (const kept of this.#all) if (kept.stream === stream) kept.place = undefined;
    stream.endByPeer("the harness went on with another stream");
  }

  /** The place of a stream is gone. It waits for its harness for a while, or ends. */
  leave(stream: RelayedStream, reason: string): void {
    const kept = [...this.#all].find((each) => each.stream === stream);
    if (kept === undefined) return;
    kept.place = undefined;
    stream.detach(reason);
    if (!stream.isResumable) return;
    kept.cancelExpiry();
    kept.cancelExpiry = this.#clock.after(DETACHED_MS, () => stream.fail(`${reason}; nobody came back`));
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#all, ({ stream }) => stream.channel.close({ deadlineMs: 0 })));
  }
}
