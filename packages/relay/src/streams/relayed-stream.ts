import { CarriedChannel, type CloseOptions, type MessageCarrier } from "@codex/channel";
import { defined, messageOf } from "@codex/values";
import {
  GAP_TIMEOUT_MS,
  LATE_STATE_MS,
  MAX_IN_FLIGHT_RECORDS,
  MAX_MESSAGE_BYTES,
  MAX_UNTAKEN_BYTES,
  OFFER_TIMEOUT_MS,
  RESEND_PAUSE_MS,
  STREAM_WINDOW_BYTES,
} from "../limits.js";
import { MessageAssembler } from "../records/message-assembler.js";
import { StreamViolation } from "../records/violation.js";
import type { Sender, SendTurns } from "../socket/send-turns.js";
import { AckPace } from "./ack-pace.js";
import { type ControlMessage, OFFER_BYTES, type StreamState, withOffer, withoutOffer } from "./control.js";
import type { NoiseLink } from "./noise-link.js";
import { Outbox } from "./outbox.js";
import { Resending } from "./resending.js";
import type { StreamOptions } from "./stream-options.js";

/** A link of a stream, and its scheduling. */
interface Attached {
  link: NoiseLink;
  turns: SendTurns;
  /** Whether a harness still waits for the response to `resume`, before which it sends nothing. */
  isResuming: boolean;
}

/**
 * A channel over a Noise stream. With Codex as the peer it ends with its link. With this implementation as the peer it acknowledges and
 * resends records, has flow control, and resumes over another link.
 */
export class RelayedStream implements MessageCarrier, Sender {
  readonly channel: CarriedChannel;
  readonly #options: StreamOptions;
  readonly #outbox = new Outbox();
  readonly #assembler = new MessageAssembler();
  readonly #acks: AckPace;
  readonly #resending: Resending;
  /** `offered`: it is not known yet whether the peer supports acknowledgements. */
  #peer: "codex" | "offered" | "ours" = "codex";
  #session = "";
  #attached: Attached | undefined;
  #messagesSent = 0;
  #messagesReceived = 0;
  #receivedBytes = 0;
  #isFull = false;
  #acceptsResumption = false;
  /** Flow control: total bytes that the peer may send, and that this end may send. */
  #granted = 0;
  #limit = Number.POSITIVE_INFINITY;
  /** Total bytes after which the peer's stream ends. */
  #total: number | undefined;
  #cancelGap: (() => void) | undefined;
  #isEnded = false;
  #hasOffered = false;
  #cancelOffer = () => {};
  #onFlushed = () => {};

  constructor(options: StreamOptions) {
    this.#options = options;
    const { clock, limits } = options;
    this.channel = new CarriedChannel(this, {
      ...defined({ limits }),
      carriesBinary: true,
      // Like Codex: a peer that does not send JSON violates the protocol.
      onMalformed: (problem) => this.#options.onBroken(problem),
    });
    this.#acks = new AckPace(clock, () => this.#sendState());
    this.#resending = new Resending(clock, {
      again: () => this.#probe(),
      stalled: (ms) => this.#options.onBroken(`nothing was acknowledged for ${ms} ms`),
    });
  }

  /** Id of the resumable session; empty if the peer cannot resume. */
  get session(): string {
    return this.#session;
  }

  /** Whether it can be resumed over another link. */
  get isResumable(): boolean {
    return this.#peer === "ours" && !this.#isEnded;
  }

  /** Whether the peer accepts a resumption handshake for it. */
  get acceptsResumption(): boolean {
    return this.isResumable && this.#acceptsResumption;
  }

  /** Whether no message has been sent or received yet. */
  get isUnused(): boolean {
    return this.#messagesSent === 0 && this.#receivedBytes === 0;
  }

  get waitingBytes(): number {
    return this.#outbox.pendingBytes;
  }

  /** Attaches the first link. */
  attach(link: NoiseLink, turns: SendTurns): void {
    this.#attached = { link, turns, isResuming: false };
    turns.request(this);
  }

  /** Attaches another link at a harness. Nothing is sent until the executor has reported its progress. */
  resume(link: NoiseLink, turns: SendTurns): void {
    this.detach();
    this.#attached = { link, turns, isResuming: true };
    this.#sendResume();
    this.#resending.start();
  }

  /** Attaches another link at an executor, as requested by the harness. */
  accept(link: NoiseLink, turns: SendTurns, { received, limit }: { received: number; limit: number }): void {
    this.detach();
    this.#attached = { link, turns, isResuming: false };
    this.#limit = Math.max(this.#limit, limit);
    this.#continueFrom(received);
  }

  /** Detaches the link. A stream that cannot be resumed ends. */
  detach(reason?: string): void {
    this.#attached?.turns.remove(this);
    this.#attached = undefined;
    this.#acks.stop();
    this.#resending.stop();
    this.#stopGap();
    if (reason !== undefined && !this.isResumable) this.fail(reason);
  }

  /** Ends it: nothing more can be received. */
  fail(reason: string): void {
    this.channel.end({ kind: "failed", error: new Error(reason) });
    this.#finish();
  }

  /** Call when the peer has reset the stream without announcing its end. */
  endByPeer(detail: string): void {
    this.channel.end({ kind: "peer_closed", detail });
    this.#finish();
  }

  /** Handles a record. @throws StreamViolation: the link is broken */
  receiveData(seq: number, payload: Uint8Array): void {
    const { link } = this.#attached ?? {};
    if (link === undefined) return;
    const expected = link.order.next;
    for (const bytes of link.acceptData(seq, payload)) {
      this.#acks.noteReceived(bytes.length);
      this.#receivedBytes += bytes.length;
      for (const message of this.#assembler.push(bytes)) this.#receiveMessage(message);
    }
    if (this.#peer === "ours") {
      const isUnexpected = link.order.hasGap || link.order.next === expected;
      this.#acks.note({ isUrgent: isUnexpected });
    }
    if (this.channel.receivedBytes > MAX_UNTAKEN_BYTES) {
      throw new StreamViolation(`${MAX_UNTAKEN_BYTES} bytes were received and not consumed`);
    }
    this.#watchGap(link.order.hasGap);
    this.#checkTotal();
  }

  /** Handles a control message. */
  receiveControl(message: ControlMessage): void {
    if (message.type === "end") {
      this.#total = message.total;
      this.#checkTotal();
    } else if (message.type === "gone") {
      if (message.session === this.#session) this.fail("the executor no longer has the stream");
    } else if (message.type === "state") {
      this.#receiveState(message);
    } else if (message.session === this.#session) {
      // A repeated request: the response was lost.
      this.#sendState();
    }
  }

  sendNext(): boolean {
    const { link, isResuming } = this.#attached ?? {};
    if (link === undefined || isResuming === true || this.#outbox.pendingBytes === 0) return false;
    const keeps = this.#peer !== "codex";
    const room = this.#limit - this.#outbox.sentBytes;
    if (keeps && (room <= 0 || this.#outbox.keptCount >= MAX_IN_FLIGHT_RECORDS)) {
      this.#resending.start();
      return false;
    }
    if (link.isExhausted) {
      this.#options.onBroken("all record numbers are used");
      return false;
    }
    this.#outbox.sendNext(link, this.#options.clock.now(), { mayJoin: this.#peer === "ours", maxBytes: room });
    if (keeps) this.#resending.start();
    else this.#outbox.acknowledge(link.nextSeq);
    this.channel.noteSent();
    this.#checkFlushed();
    return this.#outbox.pendingBytes > 0;
  }

  send(json: Buffer, onWritten?: () => void): void {
    const isFirst = this.#messagesSent === 0;
    this.#messagesSent += 1;
    const offers = isFirst && this.#options.role === "harness" && json.length + OFFER_BYTES <= MAX_MESSAGE_BYTES;
    if (offers) this.#offer();
    this.#outbox.push(offers ? withOffer(json) : json, onWritten);
    this.#attached?.turns.request(this);
  }

  setFull(isFull: boolean): void {
    this.#isFull = isFull;
    // Our own peer gets no more credit; Codex is only slowed by its socket, if that has no other stream.
    if (this.#peer !== "ours") this.#options.onFull?.(isFull);
    if (!isFull && this.#peer === "ours") this.#acks.note({ isUrgent: true });
  }

  async close({ deadlineMs, abrupt }: Required<CloseOptions>): Promise<void> {
    if (!this.#isEnded && !abrupt) await this.#flush(deadlineMs);
    const { link } = this.#attached ?? {};
    // Codex ignores this message.
    if (!this.#isEnded && this.#peer !== "codex") link?.sendControl({ type: "end", total: this.#outbox.sentBytes });
    this.#finish();
  }

  /** Until the peer has responded to the offer, no more is sent than can be retained. */
  #offer(): void {
    this.#peer = "offered";
    this.#hasOffered = true;
    this.#limit = STREAM_WINDOW_BYTES;
    this.#waitForState(OFFER_TIMEOUT_MS);
  }

  #waitForState(ms: number): void {
    this.#cancelOffer();
    this.#cancelOffer = this.#options.clock.after(ms, () => {
      this.#peer = "codex";
      this.#limit = Number.POSITIVE_INFINITY;
      this.#resending.stop();
      const { link, turns } = this.#attached ?? {};
      if (link !== undefined) this.#outbox.acknowledge(link.nextSeq);
      this.#checkFlushed();
      turns?.request(this);
    });
  }

  #receiveMessage(message: Buffer): void {
    this.#messagesReceived += 1;
    // A peer that supports it responds to the offer before its first message.
    if (this.#peer === "offered" && this.#messagesReceived === 1) this.#waitForState(LATE_STATE_MS);
    const offering =
      this.#messagesReceived === 1 && this.#options.role === "executor" ? withoutOffer(message) : undefined;
    if (offering !== undefined) {
      this.#session = this.#options.createSessionId?.() ?? "";
      if (this.#session !== "") this.#peer = "ours";
      this.#limit = this.#outbox.sentBytes + STREAM_WINDOW_BYTES;
    }
    this.channel.deliver(offering ?? message);
    if (offering !== undefined) this.#sendState();
  }

  #receiveState(state: StreamState): void {
    const attached = this.#attached;
    if (attached === undefined || state.next > attached.link.nextSeq) return;
    // Also if the response to the offer was lost or late: records that were not retained have arrived, or their loss will be detected.
    if (this.#peer !== "ours" && this.#hasOffered) {
      this.#cancelOffer();
      this.#peer = "ours";
      this.#session = state.session;
      this.#limit = state.limit;
    }
    if (this.#peer !== "ours" || state.session !== this.#session) return;
    this.#limit = Math.max(this.#limit, state.limit);
    this.#acceptsResumption ||= state.resumption === true;
    if (attached.isResuming) {
      attached.isResuming = false;
      this.#continueFrom(state.received);
      return;
    }
    const oldest = this.#outbox.oldest?.seq;
    this.#outbox.acknowledge(state.next);
    if (this.#outbox.oldest?.seq !== oldest || this.#outbox.keptCount === 0) this.#resending.noteProgress();
    if (state.held.length > 0) {
      const held = new Set(state.held.map((ahead) => state.next + ahead));
      const missing = { has: (seq: number) => held.has(seq), before: Math.max(...held), pauseMs: RESEND_PAUSE_MS };
      this.#outbox.resendMissing(attached.link, this.#options.clock.now(), missing);
    }
    if (!this.#isWaiting) this.#resending.stop();
    if (state.ask === true) this.#sendState();
    this.#checkFlushed();
    attached.turns.request(this);
  }

  /** Continues on a new link, where the peer has this many bytes. */
  #continueFrom(received: number): void {
    try {
      this.#outbox.rewind(received);
    } catch (error) {
      this.#options.onBroken(messageOf(error));
      this.fail("bytes that the peer does not have are gone");
      return;
    }
    this.#resending.stop();
    this.#sendState();
    this.#attached?.turns.request(this);
  }

  /** Requests an acknowledgement, and resends the oldest record, which may be missing. */
  #probe(): void {
    const { link, isResuming } = this.#attached ?? {};
    if (link === undefined) return;
    if (isResuming === true) return this.#sendResume();
    const { oldest } = this.#outbox;
    if (oldest !== undefined) {
      oldest.sentAt = this.#options.clock.now();
      link.resend(oldest.seq, oldest.record);
    }
    this.#sendState(true);
  }

  /** Whether the peer still has to acknowledge data or grant credit. */
  get #isWaiting(): boolean {
    return this.#outbox.keptCount > 0 || this.#outbox.pendingBytes > 0 || this.#attached?.isResuming === true;
  }

  #sendState(ask = false): void {
    const { link } = this.#attached ?? {};
    if (link === undefined || this.#peer !== "ours") return;
    this.#acks.noteSent();
    const { next, held } = link.order;
    const state = { type: "state", session: this.#session, next, held, received: this.#receivedBytes } as const;
    const resumption = this.#options.role === "executor" ? { resumption: true } : {};
    link.sendControl({ ...state, ...resumption, limit: this.#grant(), ...(ask ? { ask } : {}) });
  }

  #sendResume(): void {
    const session = this.#session;
    this.#attached?.link.sendControl({ type: "resume", session, received: this.#receivedBytes, limit: this.#grant() });
  }

  /** A full channel grants no more credit. */
  #grant(): number {
    if (!this.#isFull) this.#granted = Math.max(this.#granted, this.#receivedBytes + STREAM_WINDOW_BYTES);
    return this.#granted;
  }

  #watchGap(hasGap: boolean): void {
    if (!hasGap) return this.#stopGap();
    this.#cancelGap ??= this.#options.clock.after(GAP_TIMEOUT_MS, () =>
      this.#options.onBroken(`a record has been missing for ${GAP_TIMEOUT_MS} ms`),
    );
  }

  #stopGap(): void {
    this.#cancelGap?.();
    this.#cancelGap = undefined;
  }

  #checkTotal(): void {
    if (this.#total === undefined || this.#receivedBytes < this.#total || this.#isEnded) return;
    this.channel.end({ kind: "peer_closed" });
    this.#finish();
  }

  async #flush(deadlineMs: number): Promise<void> {
    if (this.#isFlushed) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(deadlineMs, resolve);
      this.#onFlushed = () => {
        cancel();
        resolve();
      };
    });
  }

  get #isFlushed(): boolean {
    return (
      this.#isEnded || (this.#outbox.pendingBytes === 0 && (this.#peer !== "ours" || this.#outbox.keptCount === 0))
    );
  }

  #checkFlushed(): void {
    if (this.#isFlushed) this.#onFlushed();
  }

  #finish(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#cancelOffer();
    this.#onFlushed();
    this.#options.onEnded();
    this.detach();
  }
}
