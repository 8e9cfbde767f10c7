import type { IncomingMessage } from "node:http";
import type { Writable } from "node:stream";
import { rootCertificates } from "node:tls";
import { TurnCork } from "@codex/channel";
import type { Clock } from "@codex/clock";
import { messageOf, SecretFilter } from "@codex/values";
import { WebSocket } from "ws";
import { HttpFailure } from "../http-failure.js";
import { CONNECT_TIMEOUT_MS, MAX_REFUSAL_BYTES, MAX_SPREAD_MS, PING_MS, PONG_TIMEOUT_MS } from "../limits.js";
import { MaskedFrames } from "./masked-frame.js";
import { readRetryAfter } from "./retry-after.js";

/** A websocket that could not be opened. The message omits the URL's query, which may be secret. */
export class SocketError extends HttpFailure {
  override readonly name = "SocketError";
}

/** Options of a websocket connection. */
export interface DialOptions {
  clock: Clock;
  headers?: Readonly<Record<string, string>>;
  /** Largest message, bytes; a larger one ends the connection. */
  maxMessageBytes: number;
  /** Additional trusted CA certificates (PEM). */
  ca?: string | Uint8Array | undefined;
  timeoutMs?: number;
  /** Returns the milliseconds until the next ping; called before each one. Default `PING_MS`. */
  getPingMs?: (() => number) | undefined;
  signal?: AbortSignal | undefined;
}

/** Events of an open socket. */
export interface SocketEvents {
  onMessage(data: Buffer, isBinary: boolean): void;
  /** Buffered data has been written. */
  onWritten(): void;
  /** Called once when it has ended, also after `close`. */
  onClosed(reason: string): void;
}

/** An open websocket to a rendezvous, pinged to detect a half-open connection. */
export class FrameSocket {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #getPingMs: () => number;
  readonly #wire: Writable;
  readonly #turn: TurnCork;
  readonly #frames = new MaskedFrames();
  #events: SocketEvents | undefined;
  #reason: string | undefined;
  #cancelPing = () => {};
  #spreadMs: number | undefined;

  /** @throws SocketError, or the reason of the signal */
  static dial(url: string, options: DialOptions): Promise<FrameSocket> {
    const { clock, getPingMs = () => PING_MS } = options;
    return dial(url, options, (socket, wire) => new FrameSocket(socket, wire, clock, getPingMs));
  }

  private constructor(socket: WebSocket, wire: Writable, clock: Clock, getPingMs: () => number) {
    this.#socket = socket;
    this.#wire = wire;
    this.#turn = new TurnCork(wire);
    this.#clock = clock;
    this.#getPingMs = getPingMs;
    socket.pause();
    socket.on("error", (error) => {
      this.#reason ??= error.message;
    });
    socket.on("ping", (payload) => {
      const [, spread] = /^spread=(\d{1,9})$/.exec(payload.toString("latin1")) ?? [];
      if (spread !== undefined) this.#spreadMs = Math.min(Number(spread), MAX_SPREAD_MS);
    });
    socket.once("close", (code, reason) => {
      this.#cancelPing();
      this.#events?.onClosed(this.#reason ?? describeClose(code, reason.toString()));
    });
  }

  /** Time over which executors should spread their return if the rendezvous fails, milliseconds: the payload of its pings. */
  get spreadMs(): number | undefined {
    return this.#spreadMs;
  }

  /** Starts reading. Call once. */
  start(events: SocketEvents): void {
    this.#events = events;
    this.#socket.on("message", (data, isBinary) => {
      if (Buffer.isBuffer(data)) events.onMessage(data, isBinary);
    });
    if (this.#socket.readyState === WebSocket.CLOSED) {
      events.onClosed(this.#reason ?? "the connection ended");
      return;
    }
    this.#socket.resume();
    this.#schedulePing();
  }

  /** Buffered bytes to be written. */
  get waitingBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends one message; no effect once the socket has ended. */
  send(data: Uint8Array | string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#turn.holdLater(data.length);
    const options = { binary: typeof data !== "string", compress: false };
    this.#socket.send(data, options, this.#onWritten);
  }

  /** Sends one binary message, given in parts that belong to the socket from now on. No effect once it has ended. */
  sendParts(parts: readonly Buffer[]): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const wire = this.#wire;
    const buffers = this.#frames.encode(parts);
    const last = buffers.pop()!;
    // Without compression ws writes each of its frames synchronously, so this one cannot end up within another.
    this.#turn.holdLater(parts.reduce((sum, { length }) => sum + length, 0));
    wire.cork();
    for (const buffer of buffers) wire.write(buffer);
    wire.write(last, this.#onWritten);
    wire.uncork();
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (!error) this.#events?.onWritten();
  };

  /** Stops reading until `resume`. */
  setPaused(isPaused: boolean): void {
    if (isPaused) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Flushes, sends a close frame, and terminates the connection if that exceeds the deadline. */
  close(deadlineMs: number): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#clock.after(deadlineMs, () => this.#socket.terminate());
      this.#socket.once("close", () => {
        cancel();
        resolve();
      });
      this.#socket.resume();
      this.#socket.close(1000);
    });
  }

  /** Terminates the connection. */
  cut(reason: string): void {
    this.#reason ??= reason;
    this.#socket.terminate();
  }

  /** Any received data proves that the peer is alive; while paused none can be received. */
  #schedulePing(): void {
    const socket = this.#socket;
    this.#cancelPing = this.#clock.after(this.#getPingMs(), () => {
      const settle = () => {
        cancel();
        socket.off("pong", settle).off("message", settle);
        this.#schedulePing();
      };
      const cancel = this.#clock.after(PONG_TIMEOUT_MS, () => {
        if (socket.isPaused) settle();
        else this.cut(`the rendezvous did not respond to a ping within ${PONG_TIMEOUT_MS} ms`);
      });
      this.#cancelPing = cancel;
      socket.on("pong", settle).on("message", settle);
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    });
  }
}

/** @param wrap called as soon as the socket is open, before anything is received */
function dial<T>(url: string, options: DialOptions, wrap: (socket: WebSocket, wire: Writable) => T): Promise<T> {
  const { clock, headers, maxMessageBytes, ca, timeoutMs = CONNECT_TIMEOUT_MS, signal } = options;
  const name = nameOf(url);
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    let socket: WebSocket;
    let wire: Writable | undefined;
    try {
      socket = new WebSocket(url, {
        headers: { ...headers },
        perMessageDeflate: false,
        followRedirects: false,
        maxPayload: maxMessageBytes,
        ...(ca === undefined ? {} : { ca: [...rootCertificates, Buffer.from(ca).toString()] }),
      });
    } catch (cause) {
      return reject(new SocketError(`${name} is not the address of a websocket: ${messageOf(cause)}`));
    }
    const settle = () => {
      cancel();
      signal?.removeEventListener("abort", onAbort);
    };
    const fail = (error: unknown) => {
      settle();
      reject(error);
      socket.on("error", () => {}).terminate();
    };
    const onAbort = () => fail(signal?.reason);
    const cancel = clock.after(timeoutMs, () =>
      fail(new SocketError(`no websocket at ${name} within ${timeoutMs} ms`)),
    );
    signal?.addEventListener("abort", onAbort);
    socket.once("error", (cause) =>
      fail(new SocketError(`connecting to ${name} failed: ${describe(cause)}`, undefined, undefined, { cause })),
    );
    socket.once(
      "unexpected-response",
      (_request, response) => void readRefusal(name, response, SecretFilter.ofRequest(headers, url)).then(fail),
    );
    socket.once("upgrade", (response) => {
      wire = response.socket;
    });
    socket.once("open", () => {
      settle();
      socket.removeAllListeners("error");
      // `upgrade` comes before `open`.
      resolve(wrap(socket, wire!));
    });
  });
}

/** The URL without user, password and query, which may be secret. */
function nameOf(url: string): string {
  if (!URL.canParse(url)) return "the rendezvous";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

const describe = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : error.message;

async function readRefusal(name: string, response: IncomingMessage, filter: SecretFilter): Promise<SocketError> {
  let body = "";
  try {
    for await (const chunk of response) {
      body += chunk;
      if (body.length >= MAX_REFUSAL_BYTES + filter.reach) break;
    }
  } catch {
    // The status alone is enough.
  }
  const { statusCode, headers } = response;
  const header = headers["x-codex-rendezvous-rejection-reason"];
  const detail = filter.hideHead(typeof header === "string" ? header : body, MAX_REFUSAL_BYTES).trim();
  const message = `${name} refused the websocket with HTTP ${statusCode}${detail === "" ? "" : `: ${detail}`}`;
  return new SocketError(message, statusCode, readRetryAfter(headers["retry-after"]));
}

function describeClose(code: number, reason: string): string {
  if (code === 1006) return "the connection was lost";
  return `the rendezvous closed the connection with code ${code}${reason === "" ? "" : `: ${reason}`}`;
}
