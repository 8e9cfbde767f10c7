import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import type { BinaryFrames, Channel, ChannelEnd, CloseOptions, Received, ReceivedBytes } from "../channel.js";
import { checkHead, FRAME_START_BYTES, writeFrameStart } from "../codec/binary-frame.js";
import { asBuffer, checkSize, encodeFramed, encodeValue } from "../codec/encode.js";
import { ChannelError, errnoOf } from "../errors.js";
import { type ChannelLimits, DEFAULT_CLOSE_DEADLINE_MS } from "../limits.js";
import { closedError, Ending } from "../queue/ending.js";
import { FrameQueue } from "../queue/frame-queue.js";
import { Inbox } from "../queue/inbox.js";
import { rejected, SendGate } from "../queue/send-gate.js";
import { TurnCork } from "../queue/turn-cork.js";
import type { Turns } from "../queue/turns.js";
import { closeSocket, concludeSocket, cutSocket, NORMAL_CLOSURE } from "./end-socket.js";
import { FrameTap } from "./frame-tap.js";
import { allocateText, encodeBinary, encodeBinaryStart } from "./frames.js";
import type { PingOptions } from "./ping-options.js";

/** Options of one end of a websocket. */
export interface WebSocketEnd {
  /** Whether this end is the server, which does not mask its frames. */
  isServer: boolean;
  /** Milliseconds between two pongs while nothing is read. */
  heartbeatMs?: number | undefined;
  /** Shared by the channels of one listener. */
  turns?: Turns;
}

/**
 * A channel over an open websocket: one JSON value per message, sent as text and read as either. Binary messages that begin
 * with `FRAME_MARK` are binary frames, once they are accepted. A message over the limit cannot be skipped: it ends the
 * connection with close code 1009.
 */
export class WebSocketChannel implements Channel {
  readonly #socket: WebSocket;
  readonly #wire: Duplex;
  readonly #limits: ChannelLimits;
  readonly #isServer: boolean;
  readonly #turnCork: TurnCork;
  readonly #ending = new Ending();
  readonly #frames: FrameQueue;
  readonly #inbox: Inbox;
  readonly #gate: SendGate;
  readonly #tap: FrameTap | undefined;
  #corked = false;
  #error: Error | undefined;
  #pings: NodeJS.Timeout | undefined;
  #missedPongs = 0;
  /** Bytes that had been read, and bytes that waited to be sent, at the last ping. */
  #heard = 0;
  #unsent = 0;
  /** Whether anything was written since the last ping. */
  #wrote = false;
  readonly #heartbeatMs: number;
  /** Runs while nothing is read. */
  #heartbeat: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;
  readonly binary: BinaryFrames = {
    accept: () => this.#frames.acceptBinary(),
    send: (head, body, onWritten) => this.#sendFrame(head, body, onWritten),
    reportsWritten: true,
  };

  /**
   * Takes over an open websocket with `maxPayload` of the limits and without compression, and its stream, where ws has turned
   * Nagle off.
   */
  constructor(socket: WebSocket, wire: Duplex, limits: ChannelLimits, { isServer, heartbeatMs, turns }: WebSocketEnd) {
    this.#isServer = isServer;
    this.#turnCork = new TurnCork(wire);
    this.#heartbeatMs = heartbeatMs ?? DEFAULT_HEARTBEAT_MS;
    this.#inbox = new Inbox(() => this.#take(), turns);
    this.#socket = socket;
    this.#wire = wire;
    this.#limits = limits;
    this.#frames = new FrameQueue(limits, limits.maxWaitingBytes);
    this.#gate = new SendGate({
      isFull: () => socket.bufferedAmount >= limits.highWaterBytes,
      hasRoom: () => socket.bufferedAmount <= limits.highWaterBytes / 2,
    });
    this.#tap = isServer ? undefined : this.#openTap();
    socket.on("message", this.#onMessage);
    socket.on("error", this.#onError);
    socket.once("close", (code, reason) => this.#end(this.#describeEnd(code, reason.toString())));
  }

  /** Before ws has read anything. Undefined where something else reads the stream as well: then ws reads all frames. */
  #openTap(): FrameTap | undefined {
    const wire = this.#wire;
    const [read, ...others] = wire.listeners("data");
    if (read === undefined || others.length > 0) return undefined;
    const tap = new FrameTap(this.#limits.maxMessageBytes, {
      pass: (bytes) => read.call(wire, bytes),
      deliver: (part) => this.#onPart(part),
      accepts: () => this.#frames.acceptsBinary,
    });
    wire.removeAllListeners("data").on("data", (chunk: Buffer) => tap.push(chunk));
    // ws reads what is left when the stream closes while paused.
    wire.prependListener("close", () => {
      const rest: Buffer | null = wire.readableLength > 0 ? wire.read(wire.readableLength) : null;
      if (rest !== null) tap.push(rest);
    });
    return tap;
  }

  get closed(): Promise<ChannelEnd> {
    return this.#ending.closed;
  }

  send(value: unknown): Promise<void> {
    if (!this.#isOpen) return rejected(closedError(this.#ending.end));
    try {
      if (this.#isServer) this.#writeWhole(encodeFramed(value, this.#limits, allocateText));
      else this.#write(encodeValue(value, this.#limits));
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
    if (this.#isServer && json.length <= MAX_COPIED_BYTES) {
      const frame = allocateText(json.length);
      frame.set(json, frame.length - json.length);
      this.#writeWhole(frame, onWritten);
    } else {
      this.#write(asBuffer(json), onWritten);
    }
    return this.#gate.pass();
  }

  #sendFrame(head: Uint8Array, body: Uint8Array, onWritten?: () => void): Promise<void> {
    if (!this.#isOpen) return rejected(closedError(this.#ending.end));
    try {
      checkHead(head);
      checkSize(FRAME_START_BYTES + head.length + body.length, this.#limits);
    } catch (error) {
      return rejected(error);
    }
    if (this.#isServer && body.length <= MAX_COPIED_BYTES) this.#writeSmallFrame(head, body, onWritten);
    else this.#writeFrame(head, body, this.#onceWritten(onWritten));
    return this.#gate.pass();
  }

  /** In one buffer, which takes one write. */
  #writeSmallFrame(head: Uint8Array, body: Uint8Array, onWritten?: () => void): void {
    const frame = encodeBinary(head, body);
    this.#wrote = true;
    this.#turnCork.holdNext(frame.length);
    this.#wire.write(frame, this.#onWritten);
    onWritten?.(); // the body is not read any more
  }

  /** A server writes the body without copying it, as it is not masked; ws would need head and body in one buffer. */
  #writeFrame(head: Uint8Array, body: Uint8Array, written: (error?: Error | null) => void): void {
    const bytes = FRAME_START_BYTES + head.length + body.length;
    this.#wrote = true;
    this.#turnCork.hold(bytes);
    if (!this.#isServer) {
      const message = Buffer.allocUnsafe(bytes);
      message.set(body, writeFrameStart(message, 0, head, body.length));
      this.#socket.send(message, BINARY_FRAME, written);
      return;
    }
    this.#wire.write(encodeBinaryStart(head, body.length));
    this.#wire.write(body, written);
  }

  receive(): Promise<Received | undefined> {
    return this.#inbox.receive();
  }

  close(options: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(options.deadlineMs ?? DEFAULT_CLOSE_DEADLINE_MS, options.abrupt ?? false);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Any message counts, as the pong may be queued behind much other data. */
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
      const [read, sent] = [this.#bytesRead, this.#bytesSent];
      // Then the ping waits behind it.
      const hasBacklog = this.#wire.writableLength > 0;
      const takes = () => hasBacklog && this.#bytesSent !== sent;
      // While paused, the pong may be in unread data. Binary frames are not messages of ws.
      const look = () => settle(this.#socket.isPaused || this.#bytesRead !== read || takes());
      const timer = setTimeout(look, deadlineMs);
      this.#socket.on("pong", onSign).on("message", onSign).on("close", onClose);
      this.#socket.ping();
    });
  }

  startPings({ intervalMs, maxMissedPongs = Number.POSITIVE_INFINITY }: PingOptions): void {
    this.#pings = setInterval(() => {
      const { isPaused, bufferedAmount } = this.#socket;
      const heard = this.#bytesRead;
      // A backlog shrinks only when the peer reads; without one, written data may still be in the kernel.
      if (heard !== this.#heard || (this.#unsent > 0 && this.#wrote)) this.#missedPongs = 0;
      this.#heard = heard;
      this.#unsent = bufferedAmount;
      this.#wrote = false;
      if (this.#missedPongs >= maxMissedPongs) {
        this.#error ??= new ChannelError("connection_lost", `peer did not answer ${this.#missedPongs} pings`);
        this.#socket.terminate();
        return;
      }
      // A pong cannot be seen while paused. With a backlog, its progress serves as a pong; a ping would wait behind it.
      if (!isPaused) this.#missedPongs++;
      if (this.#isOpen && bufferedAmount === 0) this.#socket.ping();
    }, intervalMs);
  }

  get #bytesRead(): number {
    return this.#wire instanceof Socket ? this.#wire.bytesRead : 0;
  }

  /** Of what was written, the bytes that the kernel has taken. Node counts them without documenting it; 0 where it does not. */
  get #bytesSent(): number {
    const wire: Duplex & { _handle?: { bytesWritten?: number; writeQueueSize?: number } | null } = this.#wire;
    const { bytesWritten = 0, writeQueueSize = 0 } = wire._handle ?? {};
    return bytesWritten - writeQueueSize;
  }

  get #isOpen(): boolean {
    return this.#closing === undefined && this.#socket.readyState === WebSocket.OPEN;
  }

  /** The peer's close frame has arrived, and ws has responded to it. */
  get #hasPeerClosed(): boolean {
    return this.#error === undefined && this.#socket.readyState === WebSocket.CLOSING;
  }

  #write(json: Buffer, onWritten?: () => void): void {
    if (!this.#corked) this.#cork();
    this.#socket.send(json, TEXT_FRAME, this.#onceWritten(onWritten));
  }

  /** Writes a text and its header together; ws would write them separately. */
  #writeWhole(frame: Buffer, onWritten?: () => void): void {
    if (!this.#corked) this.#cork();
    this.#wire.write(frame, this.#onceWritten(onWritten));
  }

  #onceWritten(then: (() => void) | undefined): (error?: Error | null) => void {
    return then === undefined ? this.#onWritten : (error) => this.#onWritten(error, then);
  }

  /** Frames of one turn of the event loop are written in one system call. */
  #cork(): void {
    this.#corked = true;
    this.#wire.cork();
    process.nextTick(() => {
      this.#corked = false;
      this.#wire.uncork();
    });
  }

  /** A failing stream also calls this for writes that it dropped: with an error, or without one once destroyed. */
  readonly #onWritten = (error?: Error | null, then?: () => void): void => {
    if (error || this.#wire.destroyed) return;
    this.#wrote = true;
    then?.();
    this.#gate.release();
  };

  readonly #onMessage = (data: unknown, isBinary: boolean): void => {
    // After close, frames are only drained until the peer's close frame.
    if (this.#closing !== undefined || !Buffer.isBuffer(data)) return;
    this.#frames.push(data, isBinary);
    this.#inbox.wake();
    if (this.#frames.isFull) this.#pause();
  };

  #onPart(part: ReceivedBytes): void {
    if (this.#closing !== undefined) return;
    this.#frames.pushBytes(part);
    this.#inbox.wake();
    if (this.#frames.isFull) this.#pause();
  }

  /** Nothing more is read. ws has sent a close frame with the reason; `close` disconnects a peer that ignores it. */
  readonly #onError = (error: Error): void => {
    this.#tap?.end();
    this.#error ??= error;
    this.#end(this.#describeEnd(ABNORMAL_CLOSURE, ""));
  };

  #take(): Received | undefined {
    const received = this.#frames.take();
    if (this.#socket.isPaused && this.#frames.hasRoom) this.#resume();
    return received;
  }

  /** Pings are not seen while paused; unsolicited pongs show the peer that this end is alive (RFC 6455, section 5.5.3). */
  #pause(): void {
    this.#socket.pause();
    this.#heartbeat ??= setInterval(() => {
      if (this.#isOpen && this.#socket.bufferedAmount === 0) this.#socket.pong();
    }, this.#heartbeatMs);
  }

  #resume(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
    this.#socket.resume();
  }

  #end(end: ChannelEnd): void {
    clearInterval(this.#pings);
    clearInterval(this.#heartbeat);
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
    if (abrupt) await cutSocket(this.#socket, deadlineMs);
    else if (this.#hasPeerClosed) await concludeSocket(this.#socket, this.#wire, deadlineMs);
    else await closeSocket(this.#socket, this.#wire, deadlineMs);
    this.#end({ kind: "closed" });
  }
}

/** Idle milliseconds before TCP keep-alive probes, which detect a peer that vanished without closing. */
export const KEEP_ALIVE_MS = 30_000;

/** Shorter than the time after which a listener disconnects a silent peer. */
const DEFAULT_HEARTBEAT_MS = 10_000;

const TEXT_FRAME = { binary: false, compress: false };
const BINARY_FRAME = { binary: true, compress: false };

/** Longest encoded text, bytes, that is copied after its header; a longer one is written separately. */
const MAX_COPIED_BYTES = 4096;

/** The close frame of the peer had no code. */
const NO_STATUS = 1005;
/** There was no close frame. */
const ABNORMAL_CLOSURE = 1006;
