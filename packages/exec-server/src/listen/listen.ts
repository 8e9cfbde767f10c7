import { isIP } from "node:net";
import type { Readable, Writable } from "node:stream";
import { createStdioChannel } from "@codex/channel";
import type { ListenAddress, Page } from "@codex/channel/websocket";
import { EXEC_SERVER_SUBPROTOCOL } from "@codex/exec-server-protocol";
import { createUnsentLimit } from "@codex/native";
import { defined } from "@codex/values";
import { MAX_QUEUED_BYTES, MAX_REQUEST_BYTES, MAX_SENT_MESSAGE_BYTES, PING_MS, SERVER_CLOSE_MS } from "../limits.js";
import type { ExecServer } from "../server.js";
import type { Transport } from "../transport.js";
import { authorizeBearer, type BearerAuth } from "./bearer-token.js";

/** Where a server listens: its stdio, or an address for websockets. */
export type ListenTarget = { kind: "stdio" } | ListenPlace;

/** An address for websockets. */
type ListenPlace = { kind: "websocket"; host: string; port: number } | { kind: "unix"; socketPath: string };

/** `stdio`, `stdio://`, `unix:///PATH` or `ws://IP:PORT`; an IPv6 address is in brackets, port 0 is a free one. @throws Error */
export function parseListenUrl(text: string): ListenTarget {
  if (text === "stdio" || text === "stdio://") return { kind: "stdio" };
  const socketPath = /^unix:\/\/(\/.+)$/s.exec(text)?.[1];
  if (socketPath !== undefined) return { kind: "unix", socketPath };
  if (!text.startsWith("ws://")) {
    throw new Error(`unsupported --listen URL \`${text}\`; expected \`ws://IP:PORT\` or \`stdio\``);
  }
  const [, v6, v4, digits] = /^ws:\/\/(?:\[([^\]]*)\]|([^:/]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (v6 !== undefined && isIP(v6) === 6 && port <= MAX_PORT) return { kind: "websocket", host: v6, port };
  if (v4 !== undefined && isIP(v4) === 4 && port <= MAX_PORT) return { kind: "websocket", host: v4, port };
  throw new Error(`invalid websocket --listen URL \`${text}\`; expected \`ws://IP:PORT\``);
}

const MAX_PORT = 65_535;

/** Options of `listenWebSocket`. */
export interface ListenWebSocketOptions extends ListenAddress {
  /** Required authentication; by default none. */
  auth?: BearerAuth | (() => BearerAuth);
  /** Listens beyond loopback without `auth`. */
  allowInsecure?: boolean;
  /** HTTP pages by path, served to clients that may connect. */
  pages?: ReadonlyMap<string, () => Page>;
  /** What `/readyz` says: 200, or 503. Default: always 200. */
  isReady?: () => boolean;
}

/** A server that accepts websockets. */
export interface ExecServerListener {
  /** `ws://IP:PORT` or `wss://IP:PORT` as bound, or `unix:///PATH`. */
  readonly url: string;
  /** Stops listening; connections stay open. `close` is to follow. Idempotent. */
  stopAccepting(): void;
  /** Stops listening and closes the connections. Idempotent; never rejects. */
  close(): Promise<void>;
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Accepts websocket connections for a server, which is not owned. @throws Error, ChannelError `listen_failed` */
export async function listenWebSocket(
  server: ExecServer,
  { auth, allowInsecure = false, pages, isReady, ...address }: ListenWebSocketOptions,
): Promise<ExecServerListener> {
  const { host = "127.0.0.1", socketPath, tls } = address;
  if (tls !== undefined && socketPath !== undefined) throw new Error("TLS is for ws://, not for a unix socket");
  if (auth === undefined && !allowInsecure && socketPath === undefined && !isLoopback(host)) {
    throw new Error(
      `${host} can be reached from other machines, and any client of an exec-server can run programs as you: ` +
        "give --ws-auth, or --allow-insecure-listen if it is protected by other means",
    );
  }
  // Loaded here, so that a server on stdio starts without the websocket library.
  const { answerProbe, createWebSocketListener, FIRST_MESSAGE_MS } = await import("@codex/channel/websocket");
  const limitUnsent = createUnsentLimit();
  const listener = await createWebSocketListener({
    firstMessageMs: FIRST_MESSAGE_MS,
    ...address,
    subprotocols: [EXEC_SERVER_SUBPROTOCOL],
    limits: {
      maxMessageBytes: MAX_REQUEST_BYTES,
      maxSentMessageBytes: MAX_SENT_MESSAGE_BYTES,
      highWaterBytes: MAX_QUEUED_BYTES,
    },
    ping: { intervalMs: PING_MS },
    onHttp: (request, response) => answerProbe(request, response, isReady),
    ...defined({ pages }),
    onChannel: (channel, { socket }) => {
      limitUnsent(socket);
      const { remoteAddress = "?", remotePort = 0, remoteFamily } = socket;
      const address = remoteFamily === "IPv6" ? `[${remoteAddress}]` : remoteAddress;
      void server.serve(channel, { transport: { kind: "websocket", peer: `${address}:${remotePort}` } });
    },
    ...(auth === undefined ? {} : { authorize: authorizeBearer(auth) }),
  });
  const close = () => listener.close({ deadlineMs: SERVER_CLOSE_MS });
  return { url: listener.url, stopAccepting: () => listener.stopAccepting(), close, [Symbol.asyncDispose]: close };
}

/**
 * Connects a server to one client over two streams, which it owns. Resolves when the connection has ended.
 * @param transport whether the client can reconnect; by default it cannot
 */
export function serveStdio(
  server: ExecServer,
  streams: { input: Readable; output: Writable },
  transport: Transport = { kind: "stdio" },
): Promise<void> {
  const limits = { maxMessageBytes: MAX_REQUEST_BYTES, maxSentMessageBytes: MAX_SENT_MESSAGE_BYTES };
  return server.serve(createStdioChannel({ ...streams, limits }), { transport });
}

const isLoopback = (ip: string): boolean => (isIP(ip) === 4 ? ip.startsWith("127.") : ip === "::1");
