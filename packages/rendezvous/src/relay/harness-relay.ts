import { encodeFrame, type FrameKind, readFrameHead } from "@codex/relay";
import type { RendezvousLimits } from "../limits.js";
import type { Drop, RendezvousMetrics, ResetCause } from "../metrics.js";
import { CLOSE } from "../sockets/close-code.js";
import type { Connection, Message } from "../sockets/connection.js";
import type { WriterLine } from "./fair-writer.js";
import type { PendingStream } from "./pending.js";
import type { UnreadBytes } from "./unread.js";

/** Collaborators of `HarnessRelay`. */
export interface HarnessRelayOptions {
  connection: Connection;
  /** Id of its ticket. */
  ticketId: string | undefined;
  limits: RendezvousLimits;
  /** Largest frame that is forwarded, bytes. */
  maxFrameBytes: number;
  metrics: RendezvousMetrics;
  unread: UnreadBytes;
  /** Sends to the executor. */
  line: WriterLine;
  isExecutorGone: () => boolean;
  /** Claims a stream id for this harness, and calls `begin` when its frames may be sent. Undefined if another harness has the id. */
  startStream: (streamId: string, begin: () => void) => PendingStream | undefined;
  /** Called when everything has been read. */
  onRead: () => void;
  /** Called once, when the connection is closed and all its frames are sent. */
  onGone: (streamId: string | undefined) => void;
}

/** The reason in a reset of the rendezvous. */
const RESET_REASON = "rendezvous_stream_ended";

/** The connection of one harness with its only stream. */
export class HarnessRelay {
  readonly connection: Connection;
  readonly ticketId: string | undefined;
  readonly #options: HarnessRelayOptions;
  readonly #share: { set(bytes: number): void };
  #streamId: string | undefined;
  #pending: PendingStream | undefined;
  /** Whether the executor has a stream, judging by the forwarded frames. */
  #isAtExecutor = false;
  #cause: ResetCause = "harness_gone";
  #invalid = 0;

  constructor(options: HarnessRelayOptions) {
    this.#options = options;
    this.connection = options.connection;
    this.ticketId = options.ticketId;
    this.#share = options.unread.addShare();
    this.connection.onMessage((message) => this.#receive(message));
    this.connection.onDrain(() => {
      this.#share.set(0);
      options.onRead();
    });
    this.connection.onClose(() => this.#end());
  }

  /** Bytes buffered for the harness. */
  get unreadBytes(): number {
    return this.connection.unsentBytes;
  }

  /** Forwards a frame of the executor. */
  deliver(bytes: Buffer, kind: FrameKind): void {
    const { metrics, limits } = this.#options;
    this.#pending?.end();
    if (kind === "reset") this.#isAtExecutor = false;
    this.connection.send(bytes, true);
    metrics.frames.to_harness.value += 1;
    metrics.bytes.to_harness.value += bytes.length;
    if (this.unreadBytes >= limits.pauseAtBytes) this.#share.set(this.unreadBytes);
  }

  /** Resets the stream of a harness that is too far behind. */
  reset(cause: ResetCause): void {
    this.#cause = cause;
    this.connection.cut();
  }

  #receive({ bytes, isBinary }: Message): void {
    const { maxFrameBytes, metrics, line } = this.#options;
    if (!isBinary) return this.#drop("text");
    if (bytes.length > maxFrameBytes) return this.#drop("too_large");
    const head = readFrameHead(bytes);
    if (head === undefined) return this.#drop("invalid");
    if (this.#streamId === undefined && !this.#start(head.streamId)) return;
    if (head.streamId !== this.#streamId) return this.#drop("foreign_stream");
    this.#isAtExecutor = head.kind !== "reset";
    metrics.frames.to_executor.value += 1;
    metrics.bytes.to_executor.value += bytes.length;
    line.write(bytes);
  }

  #start(streamId: string): boolean {
    const { startStream, line, metrics } = this.#options;
    this.#pending = startStream(streamId, () => line.open());
    if (this.#pending !== undefined) {
      this.#streamId = streamId;
      return true;
    }
    metrics.dropped.foreign_stream.value += 1;
    this.connection.close(CLOSE.policyViolation, "the stream id is in use");
    return false;
  }

  #drop(why: Drop): void {
    const { metrics, limits } = this.#options;
    metrics.dropped[why].value += 1;
    this.#invalid += 1;
    if (this.#invalid > limits.maxInvalidFrames) {
      this.connection.close(CLOSE.policyViolation, "too many invalid frames");
    }
  }

  /** Its frames are still delivered to the executor, which is then notified that the stream has no reader. */
  #end(): void {
    const { line, metrics, onGone, isExecutorGone } = this.#options;
    this.#share.set(0);
    this.#pending?.end();
    if (this.#isAtExecutor && this.#streamId !== undefined && line.isOpen && !isExecutorGone()) {
      metrics.resets[this.#cause].value += 1;
      line.write(encodeFrame({ streamId: this.#streamId, body: { kind: "reset", reason: RESET_REASON } }));
    }
    line.end(() => onGone(this.#streamId));
  }
}
