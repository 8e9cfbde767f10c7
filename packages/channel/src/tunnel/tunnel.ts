import type { Channel, ChannelEnd, CloseOptions, Received } from "../channel.js";
import { asBuffer, checkSize, encodeValue } from "../codec/encode.js";
import { type ChannelLimits, DEFAULT_CLOSE_DEADLINE_MS, resolveLimits } from "../limits.js";
import { closedError, Ending } from "../queue/ending.js";
import { Inbox } from "../queue/inbox.js";
import { rejected, SendGate } from "../queue/send-gate.js";
import { PieceReceiver } from "./piece-receiver.js";
import { PieceSender } from "./piece-sender.js";

/** Carries what one end of a tunnel says to the other, in order, over whatever the tunnel leads through. */
export interface TunnelCarrier {
  /**
   * A piece of the JSON text of a message; the next message begins behind the last one. Resolves when the next piece may
   * be sent; a rejection fails the tunnel.
   */
  sendPiece(data: string, isLast: boolean): Promise<void>;
  /** So much was taken since the tunnel was opened, in the units of `getPieceCost`. */
  sendTaken(taken: number): void;
  /** This end is closed: nothing more is sent, nor taken. Not called after `fail`, nor after the peer's end. */
  sendEnd(reason: string | undefined): void;
}

/** What each end may have on its way, in the units of `getPieceCost`. */
export interface TunnelWindows {
  /** What this end grants the other. */
  received: number;
  /** What the other end has granted. */
  sent: number;
}

/**
 * One end of a channel within another channel. It has bounds of its own: what is not taken here holds back this
 * tunnel's sender, and nothing else of the channel that carries it. Messages go in pieces, so that none delays others for long.
 */
export class Tunnel implements Channel {
  readonly #carrier: TunnelCarrier;
  readonly #limits: ChannelLimits;
  readonly #ending = new Ending();
  readonly #receiver: PieceReceiver;
  readonly #sender: PieceSender;
  readonly #inbox: Inbox;
  readonly #gate: SendGate;
  #closing: Promise<void> | undefined;

  constructor(carrier: TunnelCarrier, windows: TunnelWindows, limits?: Partial<ChannelLimits>) {
    this.#carrier = carrier;
    this.#limits = resolveLimits(limits);
    const { highWaterBytes } = this.#limits;
    this.#receiver = new PieceReceiver(windows.received, this.#limits, (taken) => carrier.sendTaken(taken));
    this.#sender = new PieceSender({
      window: windows.sent,
      send: (data, isLast) => carrier.sendPiece(data, isLast),
      onProgress: () => this.#gate.release(),
      onFailed: (error) => this.fail(error),
    });
    this.#gate = new SendGate({
      isFull: () => this.#sender.waitingBytes >= highWaterBytes,
      hasRoom: () => this.#sender.waitingBytes <= highWaterBytes / 2,
    });
    this.#inbox = new Inbox(() => this.#receiver.take());
  }

  get closed(): Promise<ChannelEnd> {
    return this.#ending.closed;
  }

  send(value: unknown): Promise<void> {
    return this.#push(() => encodeValue(value, this.#limits));
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    const encode = () => {
      checkSize(json.length, this.#limits);
      return asBuffer(json);
    };
    return this.#push(encode, onWritten);
  }

  receive(): Promise<Received | undefined> {
    return this.#inbox.receive();
  }

  /** A piece came. Returns what is wrong with it, if anything: such a peer respects no bound, and the tunnel has failed. */
  receivePiece(data: string, isLast: boolean): string | undefined {
    if (this.#ending.end !== undefined) return undefined;
    const violation = this.#receiver.accept(data, isLast);
    if (violation !== undefined) this.abandon(violation);
    else if (isLast) this.#inbox.wake();
    return violation;
  }

  /** The peer has taken so much since the tunnel was opened. */
  receiveTaken(taken: number): void {
    this.#sender.noteTaken(taken);
  }

  /** The peer has closed its end. What came before can still be received. */
  receiveEnd(reason: string | undefined): void {
    this.#end(reason === undefined ? { kind: "peer_closed" } : { kind: "peer_closed", detail: reason });
  }

  /** Ends it at once, and tells the peer why. */
  abandon(reason: string): void {
    if (this.#ending.end === undefined) this.#carrier.sendEnd(reason);
    this.fail(new Error(reason));
  }

  /** What carries the tunnel is gone. What came before can still be received. */
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
    this.#receiver.drop();
    this.#inbox.end();
    if (this.#ending.end === undefined && !abrupt && deadlineMs > 0) await this.#sender.flush(deadlineMs);
    if (this.#ending.end === undefined) this.#carrier.sendEnd(undefined);
    this.#end({ kind: "closed" });
  }

  #push(encode: () => Buffer, onWritten?: () => void): Promise<void> {
    if (this.#ending.end !== undefined) return rejected(closedError(this.#ending.end));
    if (this.#closing !== undefined) return rejected(closedError({ kind: "closed" }));
    try {
      this.#sender.push({ json: encode(), onWritten });
    } catch (error) {
      return rejected(error);
    }
    return this.#gate.pass();
  }

  #end(end: ChannelEnd): void {
    this.#ending.settle(end);
    this.#sender.end();
    this.#gate.fail(closedError(this.#ending.end));
    this.#inbox.end();
  }
}
