import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Channel } from "../channel.js";
import { ChannelError } from "../errors.js";
import { answerPage, isNamedHost, type Page, type Refusal } from "../http/page.js";
import { boundUnadmitted, type Unadmitted, type UnadmittedLimits } from "../http/unadmitted.js";
import { type ChannelLimits, resolveLimits } from "../limits.js";
import { Turns } from "../queue/turns.js";
import { bindAddress, createHttpServer, describeAddress, type ListenAddress } from "./listen-address.js";
import type { PingOptions } from "./ping-options.js";
import { KEEP_ALIVE_MS, WebSocketChannel } from "./websocket-channel.js";

/** Options of `createWebSocketListener`; only `onChannel` and an address are required. */
export interface ListenOptions extends ListenAddress {
  /** The only path that upgrades. Default `/`. */
  path?: string;
  /** Subprotocols that are accepted, the preferred one first. A client that offers none of them is accepted without one. */
  subprotocols?: readonly string[];
  limits?: Partial<ChannelLimits>;
  /** Called before the upgrade. A rejection or a throw refuses with 500. Default: every request is authorized. */
  authorize?: (request: IncomingMessage) => Authorization | Promise<Authorization>;
  /** Accepted values of `Origin`; a request with any other is refused with 403. Default: none. */
  allowOrigin?: readonly string[];
  /** Takes ownership of the channel. A throw closes it. */
  onChannel: (channel: Channel, request: IncomingMessage) => void;
  /** Responds to a plain request; false leaves it to the listener: 400 at the path, else 404. A throw responds with 500. */
  onHttp?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /**
   * Pages to read with GET, by path; `authorize` applies to them as well. Without `authorize` a `Host` that is a name other
   * than `localhost` is refused, against DNS rebinding by web pages.
   */
  pages?: ReadonlyMap<string, () => Page>;
  /** Default: every 20 s, and a peer that misses two in a row is disconnected. False for none. */
  ping?: PingOptions | false;
  /** Milliseconds for the first message of a channel, which is closed otherwise. Default: unlimited. */
  firstMessageMs?: number;
  /** Open channels; one more is refused with 503. Default 1024. */
  maxChannels?: number;
  /** Bounds of connections that are no channel yet. */
  unadmitted?: UnadmittedLimits;
}

/** Whether a request may upgrade; `status` and `message` are the HTTP response to one that may not. */
export type Authorization = { ok: true } | { ok: false; status: number; message: string };

/** A listening socket whose clients become channels. */
export interface WebSocketListener extends AsyncDisposable {
  /** `ws://ADDRESS:PORT` or `wss://ADDRESS:PORT` as bound, and the path unless it is `/`; `unix:///PATH` of a socket. */
  readonly url: string;
  /** 0 for a unix socket. */
  readonly port: number;
  /** Stops listening; channels stay open. `close` is to follow. Idempotent. */
  stopAccepting(): void;
  /** Stops listening and closes every channel. Idempotent; never rejects. */
  close(options?: { deadlineMs?: number }): Promise<void>;
}

/** Detects a peer that vanished without closing after 40 to 60 s. */
export const DEFAULT_PING: PingOptions = { intervalMs: 20_000, maxMissedPongs: 2 };
/** Time for the first message, where the client speaks first at once, milliseconds. */
export const FIRST_MESSAGE_MS = 10_000;
const DEFAULT_MAX_CHANNELS = 1024;

/** @throws ChannelError `listen_failed` */
export async function createWebSocketListener(options: ListenOptions): Promise<WebSocketListener> {
  const listener = new Listener(options);
  await listener.listen();
  return listener;
}

class Listener implements WebSocketListener {
  readonly #options: ListenOptions;
  readonly #limits: ChannelLimits;
  readonly #path: string;
  readonly #http: Server;
  readonly #upgrader: WebSocketServer;
  readonly #channels = new Set<WebSocketChannel>();
  readonly #turns = new Turns();
  readonly #unadmitted: Unadmitted;
  /** Connections between the upgrade request and its response. */
  readonly #pending = new Set<Duplex>();
  /** Resolves when it no longer listens and no connection is left; undefined while it accepts. */
  #stopped: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.#limits = resolveLimits(options.limits);
    this.#path = options.path ?? "/";
    this.#upgrader = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.#limits.maxMessageBytes,
      skipUTF8Validation: true,
      handleProtocols: (offered) => options.subprotocols?.find((name) => offered.has(name)) ?? false,
    });
    this.#http = createHttpServer(options, (request, response) => this.#answer(request, response));
    this.#unadmitted = boundUnadmitted(this.#http, options.unadmitted);
    this.#http.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get port(): number {
    return describeAddress(this.#http, this.#options).port;
  }

  get url(): string {
    const { url } = describeAddress(this.#http, this.#options);
    return `${url}${this.#path === "/" || this.#options.socketPath !== undefined ? "" : this.#path}`;
  }

  async listen(): Promise<void> {
    if (!this.#path.startsWith("/")) {
      const message = `cannot listen on path \`${this.#path}\`: it does not begin with a slash`;
      throw new ChannelError("listen_failed", message);
    }
    await bindAddress(this.#http, this.#options);
  }

  stopAccepting(): void {
    this.#stopped ??= new Promise<void>((resolve) => this.#http.close(() => resolve()));
    for (const wire of this.#pending) wire.destroy();
  }

  close(options?: { deadlineMs?: number }): Promise<void> {
    this.#closing ??= this.#close(options);
    return this.#closing;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#isOriginAllowed(request)) {
      response.writeHead(403).end();
      return;
    }
    if (this.#isAnswered(request, response)) return;
    const page = this.#options.pages?.get(pathOf(request));
    if (page !== undefined) {
      void answerPage(request, response, page, () => this.#checkPage(request));
      return;
    }
    const known = pathOf(request) === this.#path;
    const text = known ? "expected a websocket upgrade: the Connection header does not include 'upgrade'\n" : "";
    response.writeHead(known ? 400 : 404, { "content-type": "text/plain; charset=utf-8" }).end(text);
  }

  #isAnswered(request: IncomingMessage, response: ServerResponse): boolean {
    try {
      return this.#options.onHttp?.(request, response) ?? false;
    } catch {
      if (!response.headersSent) response.writeHead(500);
      response.end();
      return true;
    }
  }

  async #upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): Promise<void> {
    wire.on("error", ignore);
    if (wire instanceof Socket) wire.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#pending.add(wire);
    const refused = await this.#check(request);
    this.#pending.delete(wire);
    if (wire.destroyed) return;
    if (refused !== undefined) {
      refuse(wire, refused.status, refused.message);
      return;
    }
    this.#unadmitted.admit(wire);
    this.#upgrader.handleUpgrade(request, wire, head, (socket) => this.#accept(socket, wire, request));
    wire.off("error", ignore);
  }

  async #check(request: IncomingMessage): Promise<Refusal | undefined> {
    if (!this.#isOriginAllowed(request)) return { status: 403, message: "" };
    if (pathOf(request) !== this.#path) return { status: 404, message: "" };
    const refused = await this.#authorize(request);
    if (refused !== undefined) return refused;
    const most = this.#options.maxChannels ?? DEFAULT_MAX_CHANNELS;
    if (this.#stopped !== undefined) return { status: 503, message: "the listener is closing" };
    if (this.#channels.size >= most) return { status: 503, message: `the limit of ${most} connections is reached` };
    return undefined;
  }

  async #checkPage(request: IncomingMessage): Promise<Refusal | undefined> {
    if (this.#options.authorize !== undefined || !isNamedHost(request.headers.host)) return this.#authorize(request);
    return {
      status: 403,
      message: "without a token this page is served only to requests that name the host by its address",
    };
  }

  async #authorize(request: IncomingMessage): Promise<Refusal | undefined> {
    const { authorize } = this.#options;
    try {
      const answer = (await authorize?.(request)) ?? { ok: true };
      return answer.ok ? undefined : answer;
    } catch {
      return { status: 500, message: "authorization failed" };
    }
  }

  #accept(socket: WebSocket, wire: Duplex, request: IncomingMessage): void {
    const channel = new WebSocketChannel(socket, wire, this.#limits, { isServer: true, turns: this.#turns });
    this.#channels.add(channel);
    this.#awaitFirstMessage(channel, socket);
    void channel.closed.then(() => this.#channels.delete(channel));
    const { ping = DEFAULT_PING } = this.#options;
    if (ping !== false) channel.startPings(ping);
    try {
      this.#options.onChannel(channel, request);
    } catch {
      void channel.close();
    }
  }

  /** A channel keeps a place from others, so it has to say something soon. */
  #awaitFirstMessage(channel: WebSocketChannel, socket: WebSocket): void {
    const { firstMessageMs } = this.#options;
    if (firstMessageMs === undefined) return;
    const deadline = setTimeout(() => void channel.close(), firstMessageMs);
    socket.once("message", () => clearTimeout(deadline));
    void channel.closed.then(() => clearTimeout(deadline));
  }

  /** Browsers send `Origin`; a page of any site could reach a loopback listener otherwise. */
  #isOriginAllowed(request: IncomingMessage): boolean {
    const origin = request.headers.origin;
    return origin === undefined || (this.#options.allowOrigin ?? []).includes(origin);
  }

  async #close(options?: { deadlineMs?: number }): Promise<void> {
    this.stopAccepting();
    await Promise.all(Array.from(this.#channels, (channel) => channel.close(options)));
    this.#http.closeAllConnections();
    await this.#stopped;
  }
}

const ignore = (): void => {};

const pathOf = (request: IncomingMessage): string => (request.url ?? "").split("?", 1)[0]!;

function refuse(wire: Duplex, status: number, message: string): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}`,
    "Connection: close",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(message)}`,
  ];
  wire.once("finish", () => wire.destroy());
  wire.end(`${head.join("\r\n")}\r\n\r\n${message}`);
}
