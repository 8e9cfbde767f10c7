// A client that sends exactly what a case contains, over a websocket or the pipes of a server.
import { createInterface } from "node:readline";
import WebSocket from "ws";

/** Bytes of one message; more than any server sends here. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Time limit for opening the socket, milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * One connection and all messages received over it. The owner must call `drop`.
 * @typedef {{ connectionClosed: true, wsCloseCode?: number }} Closed
 */
export class Connection {
  /** Messages in the order of arrival. @type {import("./messages.mjs").Message[]} */
  received = [];
  /** How the server closed it; undefined if it was dropped locally. @type {Closed | undefined} */
  closedByServer;
  isOpen = true;
  #wire;
  #wakers = new Set();

  /** @param {{ send(text: string): void, sendBinary(text: string): void, endInput(): void, drop(): void }} wire */
  constructor(wire) {
    this.#wire = wire;
  }

  /** Does nothing if the connection is closed. @param {string} text */
  sendText(text) {
    if (this.isOpen) this.#wire.send(text);
  }

  /** @param {string} text */
  sendBinary(text) {
    if (this.isOpen) this.#wire.sendBinary(text);
  }

  /** Stops sending; further responses are still received. */
  endInput() {
    this.#wire.endInput();
  }

  /** Closes at once, without a close handshake. Idempotent. */
  drop() {
    this.isOpen = false;
    this.#wire.drop();
    this.#wake();
  }

  /** Resolves at the next message or the end; at once on `signal`. @param {AbortSignal} signal */
  async changed(signal) {
    if (signal.aborted) return;
    await new Promise((resolve) => {
      const done = () => {
        this.#wakers.delete(done);
        signal.removeEventListener("abort", done);
        resolve(undefined);
      };
      this.#wakers.add(done);
      signal.addEventListener("abort", done);
    });
  }

  /** @param {string} text */
  accept(text, { isBinary = false } = {}) {
    const message = parse(text);
    this.received.push(isBinary ? { $binary: message } : message);
    this.#wake();
  }

  /** @param {Closed} closed */
  end(closed) {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.closedByServer = closed;
    this.#wake();
  }

  #wake() {
    for (const waker of [...this.#wakers]) waker();
  }
}

/** Text that is not a JSON object matches no recorded message. */
function parse(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : { $noObject: value };
  } catch {
    return { $noJson: text };
  }
}

/** @param {string} url @returns {Promise<Connection>} */
export function connectWebSocket(url) {
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: CONNECT_TIMEOUT_MS,
  });
  const connection = new Connection({
    send: (text) => socket.send(text),
    sendBinary: (text) => socket.send(Buffer.from(text), { binary: true }),
    endInput: () => {
      throw new Error("a websocket has no end of input");
    },
    drop: () => socket.terminate(),
  });
  socket.on("message", (data, isBinary) => connection.accept(data.toString(), { isBinary }));
  socket.on("close", (code) => connection.end({ connectionClosed: true, wsCloseCode: code }));
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(connection));
    socket.on("error", (cause) => reject(new Error(`connecting to ${url} failed: ${cause.message}`, { cause })));
  });
}

/** @param {import("node:child_process").ChildProcess} child with pipes on stdin and stdout */
export function connectStdio({ stdin, stdout }) {
  const connection = new Connection({
    send: (text) => stdin.write(`${text}\n`),
    sendBinary: () => {
      throw new Error("a binary frame needs a websocket");
    },
    endInput: () => stdin.end(),
    drop: () => stdin.destroy(),
  });
  stdin.on("error", () => {});
  createInterface({ input: stdout }).on("line", (line) => connection.accept(line));
  stdout.on("close", () => connection.end({ connectionClosed: true }));
  return connection;
}
