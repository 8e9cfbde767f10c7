import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import type { Channel } from "../channel.js";
import { ChannelError } from "../errors.js";
import { type ChannelLimits, resolveLimits } from "../limits.js";
import { KEEP_ALIVE_MS, WebSocketChannel } from "./websocket-channel.js";

export interface ConnectOptions {
  /** Sent with the upgrade request, such as `Authorization`. */
  headers?: Readonly<Record<string, string>>;
  limits?: Partial<ChannelLimits>;
  /** Milliseconds from the call to the open channel. Default 10000. */
  connectTimeoutMs?: number;
  /** Milliseconds between two pongs that nobody asked for, while nothing is read and no ping is seen. Default 10000. */
  heartbeatMs?: number;
  /** Gives up the attempt; the error is `closed`. */
  signal?: AbortSignal;
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** As much of a refusal's body as goes into the error, bytes. */
const MAX_REFUSAL_BYTES = 512;

/**
 * Connects to a `ws://` or `wss://` URL.
 * @throws ChannelError `connect_failed`, `connect_timeout`, `unauthorized` (HTTP 401 or 403) or `closed` (aborted)
 */
export async function connectWebSocketChannel(url: string, options: ConnectOptions = {}): Promise<Channel> {
  const limits = resolveLimits(options.limits);
  const target = parseUrl(url);
  const name = nameOf(target);
  const socket = createSocket(target, options.headers, limits);
  return new Promise<Channel>((resolve, reject) => {
    let wire: Duplex | undefined;
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
      fail(new ChannelError("connect_failed", `connecting to ${name} failed: ${describe(cause)}`, { cause }));
    });
    socket.once("unexpected-response", (_request, response) => {
      void readRefusal(response).then((text) => fail(refusal(name, response.statusCode, text)));
    });
    socket.once("upgrade", (response) => {
      wire = response.socket;
      response.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    });
    socket.once("open", () => {
      settle();
      socket.removeAllListeners("error");
      resolve(new WebSocketChannel(socket, wire!, limits, options.heartbeatMs));
    });
    if (options.signal?.aborted) onAbort();
  });
}

function parseUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^wss?:$/.test(parsed.protocol) && parsed.hash === "") return parsed;
  const given = parsed === undefined ? url : nameOf(parsed);
  throw new ChannelError(
    "connect_failed",
    `\`${given}\` is not a websocket URL; expected ws://HOST:PORT or wss://HOST:PORT`,
  );
}

/** A URL as it may stand in an error: user, password and query can be secrets. */
const nameOf = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}`;

function createSocket(target: URL, headers: ConnectOptions["headers"], limits: ChannelLimits): WebSocket {
  try {
    return new WebSocket(target, {
      headers: { ...headers },
      perMessageDeflate: false,
      maxPayload: limits.maxMessageBytes,
      // Checked when a value is taken: there it is one malformed message, here it would end the connection.
      skipUTF8Validation: true,
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ChannelError("connect_failed", `connecting to ${nameOf(target)} failed: ${reason}`, { cause });
  }
}

/** The message of a failed connect is empty where several addresses were tried. */
function describe(error: Error): string {
  if (!(error instanceof AggregateError)) return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join("; ");
}

function refusal(name: string, status: number | undefined, text: string): ChannelError {
  const code = status === 401 || status === 403 ? "unauthorized" : "connect_failed";
  return new ChannelError(code, `${name} refused the websocket with HTTP ${status}${text === "" ? "" : `: ${text}`}`);
}

async function readRefusal(response: IncomingMessage): Promise<string> {
  let body = Buffer.alloc(0);
  try {
    for await (const chunk of response) {
      body = Buffer.concat([body, chunk]);
      if (body.length >= MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // The status alone tells enough.
  }
  return body.subarray(0, MAX_REFUSAL_BYTES).toString().trim();
}
