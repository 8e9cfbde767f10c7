import type { Duplex } from "node:stream";
import type { Clock } from "@codex/clock";
import type { RawData, WebSocket } from "ws";

/** A received message. */
export interface Message {
  bytes: Buffer;
  isBinary: boolean;
}

/** Approximate memory overhead of a queued message, bytes. */
export const MESSAGE_OVERHEAD_BYTES = 256;

/** The open websocket of an executor or harness. The creator sets its handlers synchronously. */
export class Connection {
  /** When data was last received, milliseconds by the clock. */
  heardAt: number;
  readonly #socket: WebSocket;
  readonly #wire: Duplex;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #closeMs: number;
  #isClosing = false;
  #unsentMessages = 0;

  /** @param closeMs time from the close frame until termination, milliseconds */
  constructor(socket: WebSocket, wire: Duplex, clock: Pick<Clock, "now" | "after">, closeMs: number) {
    this.#socket = socket;
    this.#wire = wire;
    this.#clock = clock;
    this.#closeMs = closeMs;
    this.heardAt = clock.now();
    const hear = () => {
      this.heardAt = clock.now();
    };
    socket.on("ping", hear);
    socket.on("pong", hear);
    // Followed by `close`, also for a message over the limit.
    socket.on("error", () => {});
  }

  readonly #onWritten = () => {
    this.#unsentMessages -= 1;
  };

  /** Called with each message until this side closes the connection. */
  onMessage(run: (message: Message) => void): void {
    this.#socket.on("message", (data: RawData, isBinary) => {
      this.heardAt = this.#clock.now();
      // The library emits buffers by default.
      if (!this.#isClosing) run({ bytes: data as Buffer, isBinary });
    });
  }

  /** Called once, when the connection has ended. */
  onClose(run: () => void): void {
    this.#socket.once("close", run);
  }

  /** Called when the send buffer has been flushed. */
  onDrain(run: () => void): void {
    this.#wire.on("drain", run);
  }

  /** Memory of sent messages that are not written yet, bytes. */
  get unsentBytes(): number {
    return this.#wire.writableLength + this.#unsentMessages * MESSAGE_OVERHEAD_BYTES;
  }

  get isPaused(): boolean {
    return this.#socket.isPaused;
  }

  /** Has no effect on a closing connection. */
  send(bytes: Buffer, isBinary: boolean): void {
    if (this.#isClosing || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#unsentMessages += 1;
    if (isBinary && bytes.length <= MAX_COPIED_BYTES) this.#wire.write(encodeBinary(bytes), this.#onWritten);
    else this.#socket.send(bytes, { binary: isBinary }, this.#onWritten);
  }

  /** Stops reading; data that was already read is still delivered. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    // While paused, received data does not update it.
    this.heardAt = this.#clock.now();
    this.#socket.resume();
  }

  ping(payload: string): void {
    if (!this.#isClosing) this.#socket.ping(payload);
  }

  /** Flushes, sends a close frame, and terminates the connection if the peer does not respond in time. Idempotent. */
  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    // The peer's close frame has to be read.
    this.#socket.resume();
    const cancel = this.#clock.after(this.#closeMs, () => this.#socket.terminate());
    this.#socket.once("close", cancel);
    this.#socket.close(code, reason);
  }

  /** Terminates it immediately. */
  cut(): void {
    this.#isClosing = true;
    this.#socket.terminate();
  }
}

/** Longest binary message, bytes, that is copied after its header: ws writes header and message separately. */
const MAX_COPIED_BYTES = 4096;

/** RFC 6455, 5.2: a binary message in one frame, as a server sends it, and its length in 2 further bytes. */
const BINARY_AND_LAST = 0x82;
const LENGTH_OF_2_BYTES = 126;

function encodeBinary(bytes: Buffer): Buffer {
  const isShort = bytes.length < LENGTH_OF_2_BYTES;
  const start = isShort ? 2 : 4;
  const frame = Buffer.allocUnsafe(start + bytes.length);
  frame[0] = BINARY_AND_LAST;
  frame[1] = isShort ? bytes.length : LENGTH_OF_2_BYTES;
  if (!isShort) frame.writeUInt16BE(bytes.length, 2);
  frame.set(bytes, start);
  return frame;
}
