import type { Clock } from "@codex/clock";
import { readFrameHead } from "@codex/relay";
import type { RendezvousLimits } from "../limits.js";
import type { Drop, RendezvousMetrics } from "../metrics.js";
import type { CloseCause, ExecutorLink } from "../registry/registrations.js";
import { CLOSE } from "../sockets/close-code.js";
import type { Connection, Message } from "../sockets/connection.js";
import { FairWriter } from "./fair-writer.js";
import { HarnessRelay } from "./harness-relay.js";
import { PendingStreams } from "./pending.js";
import type { UnreadBytes } from "./unread.js";

/** Collaborators of `ExecutorRelay`. */
export interface ExecutorRelayOptions {
  connection: Connection;
  limits: RendezvousLimits;
  /** Largest frame that is forwarded, bytes. */
  maxFrameBytes: number;
  metrics: RendezvousMetrics;
  clock: Pick<Clock, "after">;
  unread: UnreadBytes;
  /** Quickly terminates a connection if it is dead. */
  probe: (connection: Connection) => void;
}

/**
 * Forwards relay frames, unread, between the connection of an executor and those of its harnesses. A stream belongs to the
 * harness that used its id first, until that harness is gone.
 */
export class ExecutorRelay implements ExecutorLink {
  readonly #options: ExecutorRelayOptions;
  readonly #writer: FairWriter;
  readonly #pending: PendingStreams;
  readonly #harnesses = new Set<HarnessRelay>();
  readonly #streams = new Map<string, HarnessRelay>();
  /** Harnesses that are so far behind that reading from the executor is paused. */
  readonly #behind = new Set<HarnessRelay>();
  #invalid = 0;

  constructor(options: ExecutorRelayOptions) {
    const { connection, limits, clock } = options;
    this.#options = options;
    this.#writer = new FairWriter(connection, {
      windowBytes: limits.executorWindowBytes,
      maxWaitingBytes: limits.maxWaitingBytes,
    });
    this.#pending = new PendingStreams(clock, limits.maxPendingStreams, limits.pendingStreamMs);
    connection.onMessage((message) => this.#receive(message));
    connection.onClose(() => this.#closeHarnesses());
  }

  get load(): number {
    return this.#harnesses.size;
  }

  findTicketId(streamId: string): string | undefined {
    return this.#streams.get(streamId)?.ticketId;
  }

  close(cause: CloseCause): void {
    this.#options.connection.close(CLOSE.replaced, cause);
    // Without waiting, as a dead connection takes a while to close.
    this.#closeHarnesses();
  }

  /** Attaches a harness. @param ticketId id of its ticket */
  addHarness(connection: Connection, ticketId: string | undefined): void {
    // The harness may have left a half-open connection, its own or the executor's.
    for (const { connection: open } of [...this.#harnesses, this.#options]) this.#options.probe(open);
    const harness: HarnessRelay = new HarnessRelay({
      connection,
      ticketId,
      limits: this.#options.limits,
      maxFrameBytes: this.#options.maxFrameBytes,
      metrics: this.#options.metrics,
      unread: this.#options.unread,
      line: this.#writer.addLine(connection),
      isExecutorGone: () => this.#writer.isClosed,
      startStream: (streamId, begin) => {
        if (this.#streams.has(streamId)) return undefined;
        this.#streams.set(streamId, harness);
        return this.#pending.add(begin);
      },
      onRead: () => this.#resume(harness),
      onGone: (streamId) => this.#remove(harness, streamId),
    });
    this.#harnesses.add(harness);
    // From now on another harness depends on the executor's frames.
    for (const behind of this.#behind) this.#resume(behind);
  }

  #closeHarnesses(): void {
    for (const { connection } of this.#harnesses) connection.close(CLOSE.executorGone, "the executor is gone");
  }

  #receive({ bytes, isBinary }: Message): void {
    if (!isBinary) return this.#drop("text");
    const head = bytes.length > this.#options.maxFrameBytes ? undefined : readFrameHead(bytes);
    if (head === undefined) return this.#drop(bytes.length > this.#options.maxFrameBytes ? "too_large" : "invalid");
    const harness = this.#streams.get(head.streamId);
    if (harness === undefined) return this.#count("unknown_stream");
    harness.deliver(bytes, head.kind);
    this.#pace(harness);
  }

  /** A harness that does not read pauses its executor if it is the only one; otherwise its stream is reset. */
  #pace(harness: HarnessRelay): void {
    const { limits, unread, connection } = this.#options;
    if (harness.unreadBytes < limits.pauseAtBytes) return;
    if (this.#harnesses.size === 1) {
      this.#behind.add(harness);
      connection.pause();
    } else if (harness.unreadBytes >= limits.maxUnreadBytes || unread.isOver) {
      harness.reset("unread");
    }
  }

  #resume(harness: HarnessRelay): void {
    if (this.#behind.delete(harness) && this.#behind.size === 0) this.#options.connection.resume();
  }

  #remove(harness: HarnessRelay, streamId: string | undefined): void {
    this.#harnesses.delete(harness);
    if (streamId !== undefined) this.#streams.delete(streamId);
    this.#resume(harness);
  }

  #drop(why: Drop): void {
    this.#count(why);
    this.#invalid += 1;
    if (this.#invalid > this.#options.limits.maxInvalidFrames) {
      this.#options.connection.close(CLOSE.policyViolation, "too many invalid frames");
    }
  }

  #count(why: Drop): void {
    this.#options.metrics.dropped[why].value += 1;
  }
}
