import type { Channel, ChannelEnd, CloseOptions, Received } from "../channel.js";
import { type ChannelLimits, DEFAULT_CLOSE_DEADLINE_MS, resolveLimits } from "../limits.js";
import { Ending } from "../queue/ending.js";
import { Inbox } from "../queue/inbox.js";
import { Outbox } from "../queue/outbox.js";
import { PieceReceiver } from "./piece-receiver.js";
import { PieceSender } from "./piece-sender.js";

/** Sends the messages of one end of a tunnel to the other, in order, over the outer channel. */
export interface TunnelCarrier {
  /**
   * Sends a piece of the JSON text of a message; `isLast` marks the last piece of it. Resolves when the next piece may be
   * sent; a rejection fails the tunnel.
   */
  sendPiece(data: string, isLast: boolean): Promise<void>;
  /** Acknowledges the total that was taken since the tunnel was opened, in the units of `getPieceCost`. */
  sendAck(taken: number): void;
  /** Reports that this end is closed: it sends and accepts nothing more. Not called after `fail`, nor after the peer's end. */
  sendClose(reason: string | undefined): void;
}

/** Most unacknowledged data in each direction, in the units of `getPieceCost`. */
export interface TunnelWindows {
  /** The window that this end grants to the other. */
  received: number;
  /** The window that the other end has granted. */
  sent: number;
}

/**
 * One end of a channel within another channel, with its own bounds: messages that are not taken here block this tunnel's
 * sender, and nothing else in the outer channel. Messages are sent in pieces, so that none delays others for long.
 */
export class Tunnel implements Channel {
  readonly #carrier: TunnelCarrier;
  readonly #limits: ChannelLimits;
  readonly #ending = new Ending();
  readonly #receiver: PieceReceiver;
  readonly #sender: PieceSender;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  #closing: Promise<void> | undefined;

  constructor(carrier: TunnelCarrier, windows: TunnelWindows, limits?: Partial<ChannelLimits>) {
    this.#carrier = carrier;
    this.#limits = resolveLimits(limits);
    this.#receiver = new PieceReceiver(windows.received, this.#limits, (taken) => carrier.sendAck(taken));
    this.#sender = new PieceSender({
      window: windows.sent,
      send: (data, isLast) => carrier.sendPiece(data, isLast),
      onProgress: () => this.#outbox.release(),
      onFailed: (error) => this.fail(error),
    });
    this.#outbox = new Outbox(this.#sender, this.#limits, this.#ending);
    this.#inbox = new Inbox(() => this.#receiver.take());
  }

  get closed(): Promise<ChannelEnd> {
    return this.#ending.closed;
  }

  send(value: unknown): Promise<void> {
    return this.#outbox.send(value);
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#outbox.sendEncoded(json, onWritten);
  }

  /** A piece arrived. Returns the peer's protocol violation, if any; the tunnel has failed then. */
  receivePiece(data: string, isLast: boolean): string | undefined {
    if (this.#ending.end !== undefined) return undefined;
    const violation = this.#receiver.accept(data, isLast);
    if (violation !== undefined) this.abandon(violation);
    else if (isLast) this.#inbox.wake();
    return violation;
  }

  receive(): Promise<Received | undefined> {
    return this.#inbox.receive();
  }

  /** The peer acknowledged the total that it has taken since the tunnel was opened. */
  receiveAck(taken: number): void {
    this.#sender.recordTaken(taken);
  }

  /** The peer closed its end. Earlier messages can still be received. */
  receiveClose(reason: string | undefined): void {
    this.#end(reason === undefined ? { kind: "peer_closed" } : { kind: "peer_closed", detail: reason });
  }

  /** Ends the tunnel immediately, and sends the reason to the peer. */
  abandon(reason: string): void {
    if (this.#ending.end === undefined) this.#carrier.sendClose(reason);
    this.fail(new Error(reason));
  }

  /** The outer channel has ended. Earlier messages can still be received. */
  fail(error: Error): void {
    this.#end({ kind: "failed", error });
  }

  close(options: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close({ deadlineMs = DEFAULT_CLOSE_DEADLINE_MS, abrupt = false }: CloseOptions): Promise<void> {
    this.#outbox.stop();
    this.#receiver.drop();
    this.#inbox.end();
    if (this.#ending.end === undefined && !abrupt && deadlineMs > 0) await this.#sender.flush(deadlineMs);
    if (this.#ending.end === undefined) this.#carrier.sendClose(undefined);
    this.#end({ kind: "closed" });
  }

  #end(end: ChannelEnd): void {
    this.#ending.settle(end);
    this.#sender.end();
    this.#outbox.end();
    this.#inbox.end();
  }
}
