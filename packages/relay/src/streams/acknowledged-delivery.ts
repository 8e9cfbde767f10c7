import { messageOf } from "@codex/values";
import {
  LATE_STATE_MS,
  MAX_IN_FLIGHT_RECORDS,
  OFFER_TIMEOUT_MS,
  RESEND_PAUSE_MS,
  STREAM_WINDOW_BYTES,
} from "../limits.js";
import { AckPace } from "./ack-pace.js";
import type { ResumeRequest, StreamState } from "./control.js";
import type { NoiseLink } from "./noise-link.js";
import type { Outbox } from "./outbox.js";
import { Resending } from "./resending.js";
import type { StreamOptions } from "./stream-options.js";

/** What this delivery needs of its stream. */
export interface DeliveredStream {
  readonly options: StreamOptions;
  readonly outbox: Outbox;
  /** The current link, if there is one. */
  readonly link: NoiseLink | undefined;
  /** Total bytes received. */
  readonly receivedBytes: number;
  /** Whether received messages wait for their consumer. */
  readonly isFull: boolean;
  /** Requests a turn to send. */
  requestTurn(): void;
  /** Call when more was acknowledged. */
  checkFlushed(): void;
  /** Ends the stream. */
  fail(reason: string): void;
}

/**
 * Delivery to a peer of this implementation: records are acknowledged and resent, the peer grants how many bytes may be sent, and the
 * stream can continue over another link. Codex has none of this, so a harness offers it and waits for the executor's answer.
 */
export class AcknowledgedDelivery {
  readonly #stream: DeliveredStream;
  readonly #acks: AckPace;
  readonly #resending: Resending;
  /** Id of the resumable session; undefined until the peer has agreed. */
  #session: string | undefined;
  #acceptsResumption = false;
  /** Whether a harness still waits for the response to `resume`, before which it sends nothing. */
  #isResuming = false;
  /** Total bytes that the peer may send, and that this end may send. */
  #granted = 0;
  #limit: number;
  #cancelOffer = () => {};

  constructor(stream: DeliveredStream) {
    const { clock, onBroken } = stream.options;
    this.#stream = stream;
    this.#limit = stream.outbox.sentBytes + STREAM_WINDOW_BYTES;
    this.#acks = new AckPace(clock, () => this.sendState());
    this.#resending = new Resending(clock, {
      again: () => this.#probe(),
      stalled: (ms) => onBroken(`nothing was acknowledged for ${ms} ms`),
    });
  }

  /** Waits for the answer to an offer. Until then no more is sent than can be retained. `declined`: there was none in time */
  offer(declined: () => void): void {
    this.#waitForAnswer(OFFER_TIMEOUT_MS, declined);
  }

  /** A peer that supports it answers the offer before its first message, which has just arrived. */
  noteFirstMessage(declined: () => void): void {
    if (!this.isAgreed) this.#waitForAnswer(LATE_STATE_MS, declined);
  }

  /** Call when the peer has agreed. `limit`: total bytes that may be sent */
  agree(session: string, limit = this.#limit): void {
    this.#cancelOffer();
    this.#session = session;
    this.#limit = limit;
  }

  get session(): string | undefined {
    return this.#session;
  }

  get isAgreed(): boolean {
    return this.#session !== undefined;
  }

  get acceptsResumption(): boolean {
    return this.#acceptsResumption;
  }

  /** Number of bytes that may be sent now; 0 or less when the peer has to acknowledge first. */
  get room(): number {
    if (this.#isResuming || this.#stream.outbox.keptCount >= MAX_IN_FLIGHT_RECORDS) return 0;
    return this.#limit - this.#stream.outbox.sentBytes;
  }

  /** Call when something was sent, or has to wait for `room`. */
  expectProgress(): void {
    this.#resending.start();
  }

  /** Call for each record that arrived in order. */
  noteReceived(bytes: number): void {
    this.#acks.noteReceived(bytes);
  }

  /** Schedules an acknowledgement. */
  acknowledge({ isUrgent }: { isUrgent: boolean }): void {
    if (this.isAgreed) this.#acks.note({ isUrgent });
  }

  /** Requests over another link that the executor continues the stream. */
  resume(): void {
    this.#isResuming = true;
    this.#sendResume();
    this.#resending.start();
  }

  /** Continues over another link, as requested by the harness, which has `received` bytes. */
  accept({ received, limit }: { received: number; limit: number }): void {
    this.#limit = Math.max(this.#limit, limit);
    this.#continueFrom(received);
  }

  /** Handles the peer's progress in this session. */
  receiveState(state: StreamState, link: NoiseLink): void {
    const { outbox, options } = this.#stream;
    this.#limit = Math.max(this.#limit, state.limit);
    this.#acceptsResumption ||= state.resumption === true;
    if (this.#isResuming) {
      this.#isResuming = false;
      this.#continueFrom(state.received);
      return;
    }
    const oldest = outbox.oldest?.seq;
    outbox.acknowledge(state.next);
    if (outbox.oldest?.seq !== oldest || outbox.keptCount === 0) this.#resending.noteProgress();
    if (state.held.length > 0) {
      const held = new Set(state.held.map((ahead) => state.next + ahead));
      const missing = { has: (seq: number) => held.has(seq), before: Math.max(...held), pauseMs: RESEND_PAUSE_MS };
      outbox.resendMissing(link, options.clock.now(), missing);
    }
    if (outbox.keptCount === 0 && outbox.pendingBytes === 0) this.#resending.stop();
    if (state.ask === true) this.sendState();
    this.#stream.checkFlushed();
    this.#stream.requestTurn();
  }

  /** Tells the peer what has arrived and how much it may send. */
  sendState(ask = false): void {
    const { link, receivedBytes: received, options } = this.#stream;
    if (link === undefined || this.#session === undefined) return;
    this.#acks.noteSent();
    const { next, held } = link.order;
    const state = { type: "state", session: this.#session, next, held, received } as const;
    const resumption = options.role === "executor" ? { resumption: true } : {};
    link.sendControl({ ...state, ...resumption, limit: this.#grant(), ...(ask ? { ask } : {}) });
  }

  /** Call when the link is gone. */
  pause(): void {
    this.#isResuming = false;
    this.#acks.stop();
    this.#resending.stop();
  }

  /** Call when the stream has ended, or the peer turned out to be Codex. */
  end(): void {
    this.#cancelOffer();
    this.pause();
  }

  #waitForAnswer(ms: number, declined: () => void): void {
    this.#cancelOffer();
    this.#cancelOffer = this.#stream.options.clock.after(ms, declined);
  }

  /** Continues on a new link, where the peer has this many bytes. */
  #continueFrom(received: number): void {
    try {
      this.#stream.outbox.rewind(received);
    } catch (error) {
      this.#stream.options.onBroken(messageOf(error));
      this.#stream.fail("bytes that the peer does not have are gone");
      return;
    }
    this.#resending.stop();
    this.sendState();
    this.#stream.requestTurn();
  }

  /** Requests an acknowledgement, and resends the oldest record, which may be missing. */
  #probe(): void {
    const { link, outbox, options } = this.#stream;
    if (link === undefined) return;
    if (this.#isResuming) return this.#sendResume();
    const { oldest } = outbox;
    if (oldest !== undefined) {
      oldest.sentAt = options.clock.now();
      link.resend(oldest.seq, oldest.record);
    }
    this.sendState(true);
  }

  #sendResume(): void {
    const { link, receivedBytes: received } = this.#stream;
    const request: ResumeRequest = { type: "resume", session: this.#session ?? "", received, limit: this.#grant() };
    link?.sendControl(request);
  }

  /** A full channel grants no more credit. */
  #grant(): number {
    if (!this.#stream.isFull) this.#granted = Math.max(this.#granted, this.#stream.receivedBytes + STREAM_WINDOW_BYTES);
    return this.#granted;
  }
}
