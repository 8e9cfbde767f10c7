import type { IncomingMessage } from "node:http";
import type { connect, TcpNetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf, SecretFilter } from "@codex/values";
import { WebSocket } from "ws";
import type { Channel } from "../channel.js";
import { ChannelError } from "../errors.js";
import type { TlsIdentity } from "../http/tls-identity.js";
import { type ChannelLimits, resolveLimits } from "../limits.js";
import { connectWire } from "./connect-wire.js";
import { KEEP_ALIVE_MS, WebSocketChannel } from "./websocket-channel.js";

/** Options of `connectWebSocketChannel`; all optional. */
export interface ConnectOptions {
  /** Sent with the upgrade request, such as `Authorization`. */
  headers?: Readonly<Record<string, string>>;
  /** Subprotocols that are offered, the preferred one first. A server that supports none of them is not refused. */
  subprotocols?: readonly string[];
  limits?: Partial<ChannelLimits>;
  /** Milliseconds from the call to the open channel. Default 10000. */
  connectTimeoutMs?: number;
  /** Milliseconds between unsolicited pongs while nothing is read and pings are not seen. Default 10000. */
  heartbeatMs?: number;
  /** Certificates (PEM) of issuers to trust in addition to Node's. For `wss:`. */
  ca?: string | Uint8Array;
  /** Certificate and key (PEM) by which this client is known to a server that asks for them. For `wss:`. */
  identity?: TlsIdentity;
  /** Cancels the attempt; the error is `closed`. */
  signal?: AbortSignal;
}

/** A channel, and the subprotocol that the server has chosen; undefined if it has chosen none. */
export type ConnectedChannel = Channel & { readonly subprotocol: string | undefined };

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** Most bytes of a refusal's body that are part of the error. */
const MAX_REFUSAL_BYTES = 512;

/** Characters of an unexpected subprotocol that are part of the error. */
const MAX_SHOWN_SUBPROTOCOL = 64;

/**
 * Connects to a `ws://` or `wss://` URL, or to the unix socket of a `unix:///PATH`.
 * @throws ChannelError `connect_failed`, `connect_timeout`, `unauthorized` (HTTP 401 or 403) or `closed` (aborted)
 */
export async function connectWebSocketChannel(url: string, options: ConnectOptions = {}): Promise<ConnectedChannel> {
  const limits = resolveLimits(options.limits);
  const target = parseTarget(url);
  const { name } = target;
  const socket = createSocket(target, options, limits);
  return new Promise<ConnectedChannel>((resolve, reject) => {
    let wire: Duplex | undefined;
    let subprotocol: string | undefined;
    const timeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
    const fail = (error: ChannelError) => {
      settle();
      reject(error);
      socket.terminate();
    };
    const onAbort = () => fail(new ChannelError("closed", `connecting to ${name} was aborted`));
    const timer = setTimeout(() => {
      fail(new ChannelError("connect_timeout", `no websocket at ${name} within ${timeoutMs} ms`));
    }, timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", onAbort);
    };
    options.signal?.addEventListener("abort", onAbort);
    socket.on("error", (cause) => {
      fail(new ChannelError("connect_failed", `connecting to ${name} failed: ${describe(cause, target)}`, { cause }));
    });
    socket.once("unexpected-response", (_request, response) => {
      const filter = SecretFilter.ofRequest(options.headers, url);
      void readRefusal(response, filter).then((text) => fail(refusal(name, response.statusCode, text)));
    });
    socket.once("upgrade", (response) => {
      wire = response.socket;
      subprotocol = takeSubprotocol(response);
      if (subprotocol !== undefined && options.subprotocols?.includes(subprotocol) !== true) {
        const chosen = JSON.stringify(subprotocol.slice(0, MAX_SHOWN_SUBPROTOCOL));
        fail(new ChannelError("connect_failed", `${name} chose the subprotocol ${chosen}, which was not offered`));
      }
      response.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    });
    socket.once("open", () => {
      settle();
      socket.removeAllListeners("error");
      const { heartbeatMs } = options;
      const channel = new WebSocketChannel(socket, wire!, limits, { isServer: false, heartbeatMs });
      resolve(Object.assign(channel, { subprotocol }));
    });
    if (options.signal?.aborted) onAbort();
  });
}

interface Target {
  url: URL;
  /** The path of a unix socket, as it was given. */
  socketPath?: string;
  /** The name for errors, without user, password and query of a URL, which can be secrets. */
  name: string;
}

function parseTarget(url: string): Target {
  const socketPath = /^unix:\/\/(\/.+)$/s.exec(url)?.[1];
  if (socketPath !== undefined) return { url: new URL("ws://localhost/"), socketPath, name: url };
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const name = parsed === undefined ? url : `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
  if (parsed !== undefined && /^wss?:$/.test(parsed.protocol) && parsed.hash === "") return { url: parsed, name };
  throw new ChannelError(
    "connect_failed",
    `\`${name}\` is not a websocket URL; expected ws://HOST:PORT, wss://HOST:PORT or unix:///PATH`,
  );
}

function createSocket({ url, socketPath, name }: Target, options: ConnectOptions, limits: ChannelLimits): WebSocket {
  const { headers, ca, identity = {}, subprotocols = [] } = options;
  try {
    return new WebSocket(url, {
      // Not its own option: ws refuses a server that chooses none.
      headers: {
        ...headers,
        ...(subprotocols.length === 0 ? {} : { "Sec-WebSocket-Protocol": subprotocols.join(", ") }),
      },
      ...(url.protocol === "wss:"
        ? {}
        : {
            createConnection: (({ host, port }: TcpNetConnectOpts) =>
              connectWire(socketPath === undefined ? { host, port } : { path: socketPath })) as typeof connect,
          }),
      ...(ca === undefined
        ? {}
        : { ca: [...process.getBuiltinModule("node:tls").rootCertificates, Buffer.from(ca).toString()] }),
      ...identity,
      perMessageDeflate: false,
      maxPayload: limits.maxMessageBytes,
      // Checked when a value is taken, as one malformed message; here it would end the connection.
      skipUTF8Validation: true,
    });
  } catch (cause) {
    throw new ChannelError("connect_failed", `connecting to ${name} failed: ${messageOf(cause)}`, { cause });
  }
}

/** Takes the chosen subprotocol from the response: ws would refuse one that it has not offered itself. */
function takeSubprotocol({ headers }: IncomingMessage): string | undefined {
  const chosen = headers["sec-websocket-protocol"];
  delete headers["sec-websocket-protocol"];
  return chosen;
}

/** Node's message is empty when several addresses were tried, and unclear when only one side speaks TLS. */
function describe(error: Error, { url, socketPath }: Target): string {
  const { message } = error;
  if (/wrong version number/.test(message)) return "the server does not speak TLS; without it the URL is ws://";
  const mayWantTls = url.protocol === "ws:" && socketPath === undefined;
  if (mayWantTls && message === "socket hang up") return `${message}; if the server speaks TLS, the URL is wss://`;
  if (!(error instanceof AggregateError)) return message;
  return error.errors.map(messageOf).join("; ");
}

function refusal(name: string, status: number | undefined, text: string): ChannelError {
  const code = status === 401 || status === 403 ? "unauthorized" : "connect_failed";
  return new ChannelError(code, `${name} refused the websocket with HTTP ${status}${text === "" ? "" : `: ${text}`}`);
}

async function readRefusal(response: IncomingMessage, filter: SecretFilter): Promise<string> {
  let body = Buffer.alloc(0);
  try {
    for await (const chunk of response) {
      body = Buffer.concat([body, chunk]);
      if (body.length >= MAX_REFUSAL_BYTES + filter.reach) break;
    }
  } catch {
    // The status alone is enough.
  }
  return filter.hide(body.toString(), 0, body.toString("utf8", 0, MAX_REFUSAL_BYTES).length).trim();
}
