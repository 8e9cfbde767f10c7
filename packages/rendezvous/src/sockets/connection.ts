import type { Duplex } from "node:stream";
import type { Clock } from "@codex/clock";
import type { RawData, WebSocket } from "ws";

/** A message as it came. */
export interface Message {
  bytes: Buffer;
  isBinary: boolean;
}

/** What a waiting message takes beside its bytes, roughly. */
export const MESSAGE_OVERHEAD_BYTES = 256;

/** The open websocket of an executor or harness. Whoever made it sets the handlers before anything else happens. */
export class Connection {
  /** When something last came, milliseconds on the clock. */
  heardAt: number;
  readonly #socket: WebSocket;
  readonly #wire: Duplex;
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #closeMs: number;
  #isClosing = false;
  #unsentMessages = 0;

  /** @param closeMs from the close frame to the cut, milliseconds */
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

  /** Called with each message, until the connection is closed from here. */
  onMessage(run: (message: Message) => void): void {
    this.#socket.on("message", (data: RawData, isBinary) => {
      this.heardAt = this.#clock.now();
      // The library gives buffers unless it is told otherwise.
      if (!this.#isClosing) run({ bytes: data as Buffer, isBinary });
    });
  }

  /** Called once, when nothing comes or goes any more. */
  onClose(run: () => void): void {
    this.#socket.once("close", run);
  }

  /** Called when all that was sent is written, if it was more than could be written at once. */
  onDrain(run: () => void): void {
    this.#wire.on("drain", run);
  }

  /** Memory that is held by what was sent and is not written yet, bytes. */
  get unsentBytes(): number {
    return this.#wire.writableLength + this.#unsentMessages * MESSAGE_OVERHEAD_BYTES;
  }

  get isPaused(): boolean {
    return this.#socket.isPaused;
  }

  /** Does nothing on a connection that is closing. */
  send(bytes: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    this.#unsentMessages += 1;
    this.#socket.send(bytes, { binary: isBinary }, this.#onWritten);
  }

  /** Reads nothing more, but what was read already still comes. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    // What came meanwhile was not heard.
    this.heardAt = this.#clock.now();
    this.#socket.resume();
  }

  ping(): void {
    if (!this.#isClosing) this.#socket.ping();
  }

  /** Sends what is queued and a close frame, and cuts the connection when the peer does not answer it in time. Idempotent. */
  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    // The answer has to be read.
    this.#socket.resume();
    const cancel = this.#clock.after(this.#closeMs, () => this.#socket.terminate());
    this.#socket.once("close", cancel);
    this.#socket.close(code, reason);
  }

  /** Ends it at once. */
  cut(): void {
    this.#isClosing = true;
    this.#socket.terminate();
  }
}
