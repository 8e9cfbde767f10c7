import { CarriedChannel, type CloseOptions, type MessageCarrier } from "@codex/channel";
import { defined } from "@codex/values";
import { GAP_TIMEOUT_MS, MAX_MESSAGE_BYTES, MAX_UNTAKEN_BYTES } from "../limits.js";
import { MessageAssembler } from "../records/message-assembler.js";
import { StreamViolation } from "../records/violation.js";
import type { Sender, SendTurns } from "../socket/send-turns.js";
import { AcknowledgedDelivery, type DeliveredStream } from "./acknowledged-delivery.js";
import { type ControlMessage, OFFER_BYTES, type StreamState, withOffer, withoutOffer } from "./control.js";
import type { NoiseLink } from "./noise-link.js";
import { Outbox } from "./outbox.js";
import type { StreamOptions } from "./stream-options.js";

/** A link of a stream, and its scheduling. */
interface Attached {
  link: NoiseLink;
  turns: SendTurns;
}

/**
 * A channel over a Noise stream. With Codex as the peer it ends with its link; with this implementation as the peer it has
 * `AcknowledgedDelivery`.
 */
export class RelayedStream implements MessageCarrier, Sender, DeliveredStream {
  readonly channel: CarriedChannel;
  readonly options: StreamOptions;
  readonly outbox = new Outbox();
  readonly #assembler = new MessageAssembler();
  /** Undefined while the peer is taken to be Codex. */
  #delivery: AcknowledgedDelivery | undefined;
  #attached: Attached | undefined;
  #messagesSent = 0;
  #messagesReceived = 0;
  #receivedBytes = 0;
  #isFull = false;
  /** Total bytes after which the peer's stream ends. */
  #total: number | undefined;
  #cancelGap: (() => void) | undefined;
  #isEnded = false;
  #hasOffered = false;
  #onFlushed = () => {};

  constructor(options: StreamOptions) {
    this.options = options;
    const { limits } = options;
    this.channel = new CarriedChannel(this, {
      ...defined({ limits }),
      carriesBinary: true,
      // Like Codex: a peer that does not send JSON violates the protocol.
      onMalformed: (problem) => this.options.onBroken(problem),
    });
  }

  /** Id of the resumable session; undefined if the peer cannot resume. */
  get session(): string | undefined {
    return this.#delivery?.session;
  }

  /** Whether it can be resumed over another link. */
  get isResumable(): boolean {
    return this.#delivery?.isAgreed === true && !this.#isEnded;
  }

  /** Whether the peer accepts a resumption handshake for it. */
  get acceptsResumption(): boolean {
    return this.isResumable && this.#delivery?.acceptsResumption === true;
  }

  /** Whether no message has been sent or received yet. */
  get isUnused(): boolean {
    return this.#messagesSent === 0 && this.#receivedBytes === 0;
  }

  get waitingBytes(): number {
    return this.outbox.pendingBytes;
  }

  get link(): NoiseLink | undefined {
    return this.#attached?.link;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Attaches the first link. */
  attach(link: NoiseLink, turns: SendTurns): void {
    this.#attached = { link, turns };
    turns.request(this);
  }

  /** Attaches another link at a harness. Nothing is sent until the executor has reported its progress. */
  resume(link: NoiseLink, turns: SendTurns): void {
    this.detach();
    this.#attached = { link, turns };
    this.#delivery?.resume();
  }

  /** Attaches another link at an executor, as requested by the harness. */
  accept(link: NoiseLink, turns: SendTurns, progress: { received: number; limit: number }): void {
    this.detach();
    this.#attached = { link, turns };
    this.#delivery?.accept(progress);
  }

  /** Detaches the link. A stream that cannot be resumed ends. */
  detach(reason?: string): void {
    this.#attached?.turns.remove(this);
    this.#attached = undefined;
    this.#delivery?.pause();
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
    const { link } = this;
    if (link === undefined) return;
    const expected = link.order.next;
    for (const bytes of link.acceptData(seq, payload)) {
      this.#delivery?.noteReceived(bytes.length);
      this.#receivedBytes += bytes.length;
      for (const message of this.#assembler.push(bytes)) this.#receiveMessage(message);
    }
    const isUnexpected = link.order.hasGap || link.order.next === expected;
    this.#delivery?.acknowledge({ isUrgent: isUnexpected });
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
      if (message.session === this.session) this.fail("the executor no longer has the stream");
    } else if (message.type === "state") {
      this.#receiveState(message);
    } else if (message.session === this.session) {
      // A repeated request: the response was lost.
      this.#delivery?.sendState();
    }
  }

  sendNext(): boolean {
    const { link, outbox } = this;
    if (link === undefined || outbox.pendingBytes === 0) return false;
    const delivery = this.#delivery;
    const maxBytes = delivery?.room ?? Number.POSITIVE_INFINITY;
    delivery?.expectProgress();
    if (maxBytes <= 0) return false;
    if (link.isExhausted) {
      this.options.onBroken("all record numbers are used");
      return false;
    }
    outbox.sendNext(link, this.options.clock.now(), { mayJoin: delivery?.isAgreed === true, maxBytes });
    if (delivery === undefined) outbox.acknowledge(link.nextSeq);
    this.channel.noteSent();
    this.checkFlushed();
    return outbox.pendingBytes > 0;
  }

  send(json: Buffer, onWritten?: () => void): void {
    const isFirst = this.#messagesSent === 0;
    this.#messagesSent += 1;
    const offers = isFirst && this.options.role === "harness" && json.length + OFFER_BYTES <= MAX_MESSAGE_BYTES;
    if (offers) this.#offer();
    this.outbox.push(offers ? withOffer(json) : json, onWritten);
    this.requestTurn();
  }

  setFull(isFull: boolean): void {
    this.#isFull = isFull;
    // Our own peer gets no more credit; Codex is only slowed by its socket, if that has no other stream.
    if (this.#delivery?.isAgreed !== true) this.options.onFull?.(isFull);
    else if (!isFull) this.#delivery.acknowledge({ isUrgent: true });
  }

  async close({ deadlineMs, abrupt }: Required<CloseOptions>): Promise<void> {
    if (!this.#isEnded && !abrupt) await this.#flush(deadlineMs);
    // Codex ignores this message.
    if (!this.#isEnded && this.#delivery !== undefined) {
      this.link?.sendControl({ type: "end", total: this.outbox.sentBytes });
    }
    this.#finish();
  }

  requestTurn(): void {
    this.#attached?.turns.request(this);
  }

  checkFlushed(): void {
    if (this.#isFlushed) this.#onFlushed();
  }

  #offer(): void {
    this.#hasOffered = true;
    this.#delivery = new AcknowledgedDelivery(this);
    this.#delivery.offer(() => this.#takeForCodex());
  }

  /** The offer was not answered. */
  #takeForCodex(): void {
    this.#delivery?.end();
    this.#delivery = undefined;
    const { link } = this;
    if (link !== undefined) this.outbox.acknowledge(link.nextSeq);
    this.checkFlushed();
    this.requestTurn();
  }

  #receiveMessage(message: Buffer): void {
    this.#messagesReceived += 1;
    const isFirst = this.#messagesReceived === 1;
    if (isFirst) this.#delivery?.noteFirstMessage(() => this.#takeForCodex());
    const { createSessionId } = this.options;
    const offering = isFirst && createSessionId !== undefined ? withoutOffer(message) : undefined;
    if (offering === undefined || createSessionId === undefined) return this.channel.deliver(message);
    this.#delivery = new AcknowledgedDelivery(this);
    this.#delivery.agree(createSessionId());
    this.channel.deliver(offering);
    this.#delivery.sendState();
  }

  #receiveState(state: StreamState): void {
    const { link } = this;
    if (link === undefined || state.next > link.nextSeq) return;
    // Also if the response to the offer was lost or late: records that were not retained have arrived, or their loss will be detected.
    if (this.#hasOffered && this.#delivery?.isAgreed !== true) {
      this.#delivery ??= new AcknowledgedDelivery(this);
      this.#delivery.agree(state.session, state.limit);
    }
    if (this.#delivery?.session === state.session) this.#delivery.receiveState(state, link);
  }

  #watchGap(hasGap: boolean): void {
    if (!hasGap) return this.#stopGap();
    this.#cancelGap ??= this.options.clock.after(GAP_TIMEOUT_MS, () =>
      this.options.onBroken(`a record has been missing for ${GAP_TIMEOUT_MS} ms`),
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
      const cancel = this.options.clock.after(deadlineMs, resolve);
      this.#onFlushed = () => {
        cancel();
        resolve();
      };
    });
  }

  get #isFlushed(): boolean {
    return (
      this.#isEnded ||
      (this.outbox.pendingBytes === 0 && (this.#delivery?.isAgreed !== true || this.outbox.keptCount === 0))
    );
  }

  #finish(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#delivery?.end();
    this.#onFlushed();
    this.options.onEnded();
    this.detach();
  }
}
