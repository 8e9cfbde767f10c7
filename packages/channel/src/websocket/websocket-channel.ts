import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import type { Channel, ChannelEnd, CloseOptions, Received } from "../channel.js";
import { asBuffer, checkSize, encodeValue } from "../codec/encode.js";
import { ChannelError, errnoOf } from "../errors.js";
import { type ChannelLimits, DEFAULT_CLOSE_DEADLINE_MS } from "../limits.js";
import { closedError, Ending } from "../queue/ending.js";
import { FrameQueue } from "../queue/frame-queue.js";
import { Inbox } from "../queue/inbox.js";
import { rejected, SendGate } from "../queue/send-gate.js";

export interface PingOptions {
  /** Milliseconds between two pings. */
  intervalMs: number;
  /** The peer is cut off when that many pings in a row were not answered; undefined: never. */
  maxMissedPongs?: number;
}

/**
 * A channel over an open websocket: one JSON value per text frame; binary frames are read as well. A frame over the
 * limit cannot be skipped: it ends the connection with close code 1009.
 */
export class WebSocketChannel implements Channel {
  readonly #socket: WebSocket;
  readonly #wire: Duplex;
  readonly #limits: ChannelLimits;
  readonly #ending = new Ending();
  readonly #frames: FrameQueue;
  readonly #inbox = new Inbox(() => this.#take());
  readonly #gate: SendGate;
  #corked = false;
  #error: Error | undefined;
  #pings: NodeJS.Timeout | undefined;
  #missedPongs = 0;
  #closing: Promise<void> | undefined;

  /** Takes over an open websocket with `maxPayload` of the limits, and its stream, where ws has turned Nagle off. */
  constructor(socket: WebSocket, wire: Duplex, limits: ChannelLimits) {
    this.#socket = socket;
    this.#wire = wire;
    this.#limits = limits;
    this.#frames = new FrameQueue(limits, limits.maxWaitingBytes);
    this.#gate = new SendGate({
      isFull: () => socket.bufferedAmount >= limits.highWaterBytes,
      hasRoom: () => socket.bufferedAmount <= limits.highWaterBytes / 2,
    });
    socket.on("message", this.#onMessage);
    socket.on("pong", () => {
      this.#missedPongs = 0;
    });
    socket.on("error", this.#onError);
    socket.once("close", (code, reason) => this.#end(this.#describeEnd(code, reason.toString())));
  }

  get closed(): Promise<ChannelEnd> {
    return this.#ending.closed;
  }

  send(value: unknown): Promise<void> {
    if (!this.#isOpen) return rejected(closedError(this.#ending.end));
    try {
      this.#write(encodeValue(value, this.#limits));
    } catch (error) {
      return rejected(error);
    }
    return this.#gate.pass();
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    if (!this.#isOpen) return rejected(closedError(this.#ending.end));
    try {
      checkSize(json.length, this.#limits);
    } catch (error) {
      return rejected(error);
    }
    this.#write(asBuffer(json), onWritten);
    return this.#gate.pass();
  }

  receive(): Promise<Received | undefined> {
    return this.#inbox.receive();
  }

  close(options: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(options.deadlineMs ?? DEFAULT_CLOSE_DEADLINE_MS, options.abrupt ?? false);
    return this.#closing;
  }

  /** Any message counts: the answer to a ping may be late behind much that was sent. */
  isPeerAlive(deadlineMs: number): Promise<boolean> {
    if (!this.#isOpen) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (alive: boolean) => {
        clearTimeout(timer);
        this.#socket.off("pong", onSign).off("message", onSign).off("close", onClose);
        resolve(alive);
      };
      const onSign = () => settle(true);
      const onClose = () => settle(false);
      // What is read no further may hold the sign.
      const timer = setTimeout(() => settle(this.#socket.isPaused), deadlineMs);
      this.#socket.on("pong", onSign).on("message", onSign).on("close", onClose);
      this.#socket.ping();
    });
  }

  startPings({ intervalMs, maxMissedPongs = Number.POSITIVE_INFINITY }: PingOptions): void {
    this.#pings = setInterval(() => {
      if (this.#missedPongs >= maxMissedPongs) {
        this.#error ??= new ChannelError("connection_lost", `peer did not answer ${this.#missedPongs} pings`);
        this.#socket.terminate();
        return;
      }
      // A pong cannot be seen while we do not read.
      if (!this.#socket.isPaused) this.#missedPongs++;
      if (this.#isOpen && this.#socket.bufferedAmount === 0) this.#socket.ping();
    }, intervalMs);
  }

  get #isOpen(): boolean {
    return this.#closing === undefined && this.#socket.readyState === WebSocket.OPEN;
  }

  #write(json: Buffer, onWritten?: () => void): void {
    if (!this.#corked) this.#cork();
    const written =
      onWritten === undefined ? this.#onWritten : (error?: Error | null) => this.#onWritten(error, onWritten);
    this.#socket.send(json, TEXT_FRAME, written);
  }

  /** Frames of one turn of the loop go out in one system call. */
  #cork(): void {
    this.#corked = true;
    this.#wire.cork();
    process.nextTick(() => {
      this.#corked = false;
      this.#wire.uncork();
    });
  }

  /** A stream that fails calls this for what it dropped as well: with an error, or without one once destroyed. */
  readonly #onWritten = (error?: Error | null, then?: () => void): void => {
    if (error || this.#wire.destroyed) return;
    then?.();
    this.#gate.release();
  };

  readonly #onMessage = (data: unknown): void => {
    // After close frames are read only until the peer has answered it.
    if (this.#closing !== undefined || !Buffer.isBuffer(data)) return;
    this.#frames.push(data);
    this.#inbox.wake();
    if (this.#frames.isFull) this.#socket.pause();
  };

  /** Nothing more is read. ws has sent a close frame that says why; `close` cuts off a peer that ignores it. */
  readonly #onError = (error: Error): void => {
    this.#error ??= error;
    this.#end(this.#describeEnd(ABNORMAL_CLOSURE, ""));
  };

  #take(): Received | undefined {
    const received = this.#frames.take();
    if (this.#socket.isPaused && this.#frames.hasRoom) this.#socket.resume();
    return received;
  }

  #end(end: ChannelEnd): void {
    clearInterval(this.#pings);
    this.#ending.settle(end);
    this.#gate.fail(closedError(this.#ending.end));
    this.#inbox.end();
  }

  #describeEnd(code: number, reason: string): ChannelEnd {
    if (this.#error !== undefined) return { kind: "failed", error: this.#describeError(this.#error) };
    if (code === ABNORMAL_CLOSURE) {
      const error = new ChannelError("connection_lost", "connection ended without a websocket close frame");
      return { kind: "failed", error };
    }
    if (reason !== "") return { kind: "peer_closed", detail: `code ${code}, ${reason}` };
    if (code === NORMAL_CLOSURE || code === NO_STATUS) return { kind: "peer_closed" };
    return { kind: "peer_closed", detail: `code ${code}` };
  }

  #describeError(cause: Error): ChannelError {
    if (cause instanceof ChannelError) return cause;
    if (errnoOf(cause) === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") {
      const limit = this.#limits.maxMessageBytes;
      const message = `peer sent a message larger than the limit of ${limit} bytes; closed with code 1009`;
      return new ChannelError("too_large", message, { cause });
    }
    return new ChannelError("connection_lost", `websocket failed: ${cause.message}`, { cause });
  }

  async #close(deadlineMs: number, abrupt: boolean): Promise<void> {
    this.#ending.settle({ kind: "closed" });
    this.#frames.clear();
    this.#inbox.end();
    await (abrupt ? cutSocket(this.#socket, deadlineMs) : closeSocket(this.#socket, deadlineMs));
    this.#end({ kind: "closed" });
  }
}

const TEXT_FRAME = { binary: false, compress: false };

const NORMAL_CLOSURE = 1000;
/** The close frame of the peer had no code. */
const NO_STATUS = 1005;
/** There was no close frame. */
const ABNORMAL_CLOSURE = 1006;

/** Sends what is queued, up to the deadline, and ends the connection without a close frame. */
const cutSocket = (socket: WebSocket, deadlineMs: number): Promise<void> =>
  // Frames leave in order: when this one is written, everything before it is.
  endSocket(socket, deadlineMs, () => socket.ping(undefined, undefined, () => socket.terminate()));

/** Sends what is queued and a close frame, and waits for the peer's, up to the deadline. */
const closeSocket = (socket: WebSocket, deadlineMs: number): Promise<void> =>
  endSocket(socket, deadlineMs, () => {
    // The close frame of the peer comes behind what it has sent.
    socket.resume();
    socket.close(NORMAL_CLOSURE);
  });

/** Begins an end and waits for it; at the deadline the connection is cut. */
function endSocket(socket: WebSocket, deadlineMs: number, begin: () => void): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.terminate(), deadlineMs);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    begin();
  });
}
