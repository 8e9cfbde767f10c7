import { createServer, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { boundUnadmitted, followTlsSource, type TlsSource, toTlsOptions } from "@codex/channel";
import { messageOf } from "@codex/values";
import { openAbove } from "./descriptors.js";
import { DESCRIPTORS_BELOW_LISTENER } from "./limits.js";
import type { Rendezvous } from "./rendezvous.js";

/** Address of a rendezvous. */
export interface ListenOptions {
  /** IP address or name to bind. Default `127.0.0.1`. */
  host?: string;
  /** 0, the default: any free port. */
  port?: number;
  /** Descriptor of a socket that listens already, at that address. It is owned. */
  fd?: number;
  /** Certificate and key, PEM. */
  tls?: TlsSource;
  /** Whether a proxy in front terminates TLS. Default false. */
  isBehindProxy?: boolean;
  /** `http://…` or `https://…` for clients. Default: the `Host` of their request. */
  publicUrl?: string;
  /** `http://…` or `https://…` at which harnesses reach this particular node of a cluster. Default: the bound address. */
  nodeUrl?: string;
  /** Called with each new connection. */
  onConnection?: (socket: Socket) => void;
}

/** A listening rendezvous. */
export interface RendezvousListener {
  /** `http://ADDRESS:PORT` or `https://ADDRESS:PORT` as bound. */
  readonly url: string;
  /**
   * Refuses new requests with 503 for `drainMs`, stops listening, asks all clients to reconnect, and waits until they are gone.
   * Idempotent; never rejects.
   */
  close(options?: { drainMs?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Listens for a rendezvous, which is closed with the listener, also on failure.
 * @throws Error if the address or the certificate cannot be used
 */
export async function listenRendezvous(
  rendezvous: Rendezvous,
  options: ListenOptions = {},
): Promise<RendezvousListener> {
  const server = await open(rendezvous, options).catch(async (error: unknown) => {
    await rendezvous.close();
    throw error;
  });
  const { headDeadlineMs, bodyDeadlineMs, maxUnadmitted } = rendezvous.limits;
  const { admit } = boundUnadmitted(server, { most: maxUnadmitted, deadlineMs: headDeadlineMs + bodyDeadlineMs });
  // It listens on a port, so the address is not a path.
  const url = urlOf(server.address() as AddressInfo, options);
  const getPublicUrl = createPublicUrl(url, options);
  server.on("request", (request, response) => void rendezvous.answer(request, response, getPublicUrl(request), admit));
  server.on("upgrade", (request, wire, head) => void rendezvous.upgrade(request, wire, head, admit));
  let closing: Promise<void> | undefined;
  const close = ({ drainMs = 0 } = {}) => {
    closing ??= shutDown(rendezvous, server, drainMs);
    return closing;
  };
  try {
    await rendezvous.join(toSocketUrl(options.nodeUrl ?? url));
  } catch (error) {
    await close();
    throw error;
  }
  return { url, close, [Symbol.asyncDispose]: () => close() };
}

async function open(rendezvous: Rendezvous, options: ListenOptions): Promise<Server> {
  const server = createHttp(rendezvous, options);
  if (options.fd !== undefined) await bind(server, options);
  else await openAbove(DESCRIPTORS_BELOW_LISTENER, () => bind(server, options));
  return server;
}

function bind(server: Server, { host = "127.0.0.1", port = 0, fd }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error) => {
      reject(new Error(`cannot listen on ${host} port ${port}: ${messageOf(cause)}`, { cause }));
    };
    server.once("error", onError);
    server.listen(fd === undefined ? { host, port } : { fd }, () => {
      server.off("error", onError);
      // For example too many open files: only that connection is lost.
      server.on("error", () => {});
      resolve();
    });
  });
}

function createHttp({ limits }: Rendezvous, { tls, onConnection }: ListenOptions): Server {
  const options: ServerOptions = {
    maxHeaderSize: limits.maxHeadBytes,
    headersTimeout: limits.headDeadlineMs,
    requestTimeout: limits.headDeadlineMs + limits.bodyDeadlineMs,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 1000,
    insecureHTTPParser: false,
    noDelay: true,
  };
  let server: Server;
  try {
    if (tls === undefined) server = createServer(options);
    else {
      const handshakeTimeout = limits.headDeadlineMs;
      const secured = createTlsServer({ ...options, ...toTlsOptions(tls), handshakeTimeout });
      followTlsSource(secured, tls);
      server = secured;
    }
  } catch (cause) {
    throw new Error(`the TLS certificate and key cannot be used: ${messageOf(cause)}`, { cause });
  }
  server.maxConnections = limits.maxConnections;
  if (onConnection !== undefined) server.on("connection", onConnection);
  return server;
}

function urlOf({ address, family, port }: AddressInfo, { tls }: ListenOptions): string {
  return `${tls === undefined ? "http" : "https"}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/**
 * The base URL that a client gets for its websockets. By default from its own request, which may have come through a
 * forwarded port; only that client gets it.
 */
function createPublicUrl(
  url: string,
  { tls, isBehindProxy = false, publicUrl }: ListenOptions,
): (request: IncomingMessage) => string {
  if (publicUrl !== undefined) {
    const fixed = toSocketUrl(publicUrl);
    return () => fixed;
  }
  const scheme = tls !== undefined || isBehindProxy ? "wss" : "ws";
  return ({ headers }) => `${scheme}://${/^[\w.:[\]-]{1,255}$/.exec(headers.host ?? "")?.[0] ?? new URL(url).host}`;
}

const toSocketUrl = (url: string): string => url.replace(/^http/, "ws").replace(/(?<!\/)\/+$/, "");

async function shutDown(rendezvous: Rendezvous, server: Server, drainMs: number): Promise<void> {
  rendezvous.drain();
  if (drainMs > 0) await new Promise((resolve) => setTimeout(resolve, drainMs));
  // First, so that disconnected clients are refused: they retry a refused connection, while an unanswered one may be final.
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
  await rendezvous.close();
  server.closeAllConnections();
  await stopped;
}
