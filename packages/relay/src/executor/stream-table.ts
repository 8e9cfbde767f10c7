import { randomUUID } from "node:crypto";
import type { Channel, ChannelLimits } from "@codex/channel";
import type { Clock } from "@codex/clock";
import { DETACHED_MS } from "../limits.js";
import type { NoisePublicKey } from "../noise/keys.js";
import { RESUMPTION_ID_BYTES, type Resumption } from "../noise/resumption-secret.js";
import { RelayedStream } from "../streams/relayed-stream.js";

/** A stream and its owner. */
export interface StreamInfo {
  streamId: string;
  /** Fingerprint of the harness's key, verified by the handshake. */
  harness: string;
}

/** What identifies and authenticates the harness of a stream in its handshakes. */
export interface StreamPeer {
  key: NoisePublicKey;
  resumption: Resumption;
}

/** The socket and stream id that currently carry a stream. */
export interface StreamPlace {
  /** Forgets the stream at this place, and resets it for the peer. */
  reset(): void;
}

interface Kept {
  stream: RelayedStream;
  harness: string;
  peer: StreamPeer;
  place: StreamPlace | undefined;
  cancelExpiry: () => void;
}

/** The streams of an executor, which outlive its sockets if their harness can resume them. */
export class StreamTable {
  readonly #clock: Clock;
  readonly #limits: Partial<ChannelLimits> | undefined;
  readonly #onStream: (channel: Channel, info: StreamInfo) => void;
  readonly #all = new Set<Kept>();

  constructor(options: {
    clock: Clock;
    limits?: Partial<ChannelLimits> | undefined;
    /** Called with the channel of each new stream, which it then owns. */
    onStream(channel: Channel, info: StreamInfo): void;
  }) {
    this.#clock = options.clock;
    this.#limits = options.limits;
    this.#onStream = options.onStream;
  }

  /** Number of streams, including those without a socket. */
  get count(): number {
    return this.#all.size;
  }

  /** Adds a new stream at this place. */
  create(info: StreamInfo, peer: StreamPeer, place: StreamPlace): RelayedStream {
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
    const kept: Kept = { stream, harness: info.harness, peer, place, cancelExpiry: () => {} };
    this.#all.add(kept);
    this.#onStream(stream.channel, info);
    return stream;
  }

  /** Moves the stream of a session to another place; undefined if this harness has no such session. The newest place wins. */
  move(session: string, harness: string, place: StreamPlace): RelayedStream | undefined {
    const kept = [...this.#all].find((each) => each.stream.isResumable && each.stream.session === session);
    if (kept === undefined || kept.harness !== harness) return undefined;
    kept.place?.reset();
    kept.place = place;
    kept.cancelExpiry();
    return kept.stream;
  }

  /** The harness of the stream that a handshake message asks to resume; undefined for a complete handshake. */
  findPeer(message: Uint8Array): StreamPeer | undefined {
    const id = message.subarray(0, RESUMPTION_ID_BYTES);
    for (const { stream, peer } of this.#all) if (stream.isResumable && peer.resumption.id.equals(id)) return peer;
    return undefined;
  }

  /** Removes a new stream that turned out to resume another one. */
  discard(stream: RelayedStream): void {
    for (const kept of this.#all) if (kept.stream === stream) kept.place = undefined;
    stream.endByPeer("the harness continued with another stream");
  }

  /** Call when the place of a stream is gone. The stream waits up to `DETACHED_MS` for its harness, or ends. */
  leave(stream: RelayedStream, reason: string): void {
    const kept = [...this.#all].find((each) => each.stream === stream);
    if (kept === undefined) return;
    kept.place = undefined;
    stream.detach(reason);
    if (!stream.isResumable) return;
    kept.cancelExpiry();
    kept.cancelExpiry = this.#clock.after(DETACHED_MS, () => stream.fail(`${reason}; the harness did not return`));
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#all, ({ stream }) => stream.channel.close({ deadlineMs: 0 })));
  }
}
