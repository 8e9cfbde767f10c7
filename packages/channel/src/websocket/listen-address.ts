import { statSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { messageOf } from "@codex/values";
import { ChannelError, errnoOf } from "../errors.js";
import { followTlsSource, type TlsSource, toTlsOptions } from "../http/tls-identity.js";
import { listenPrivately, removeDeadSocket } from "../unix/unix-socket.js";

/** The address of a listener. */
export interface ListenAddress {
  /** IP address or name to bind. Default `127.0.0.1`: other machines cannot connect. */
  host?: string;
  /** 0 for a free one, which is the default. */
  port?: number;
  /**
   * Absolute path of a unix socket to create instead of binding `host` and `port`. Only this user may connect. A socket
   * without a listener is replaced.
   */
  socketPath?: string;
  /** Descriptor of a socket that listens already, at the address that the others say. It is owned. */
  fd?: number;
  /** Enables TLS 1.2 and later. */
  tls?: TlsSource;
}

/** Longest path of a unix socket, bytes: the smallest `sun_path` of the supported systems, without its NUL. */
const MAX_SOCKET_PATH_BYTES = 103;

/** @throws ChannelError `listen_failed` for a certificate or key that cannot be used */
export function createHttpServer({ tls }: ListenAddress, answer: RequestListener): Server {
  if (tls === undefined) return createServer(answer);
  try {
    const server = createTlsServer(toTlsOptions(tls), answer);
    followTlsSource(server, tls);
    return server;
  } catch (cause) {
    throw new ChannelError("listen_failed", `the TLS certificate and key cannot be used: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** @throws ChannelError `listen_failed` */
export async function bindAddress(server: Server, address: ListenAddress): Promise<void> {
  const { socketPath, fd, host = "127.0.0.1", port = 0 } = address;
  if (fd !== undefined) return bind(server, `descriptor ${fd}`, () => server.listen({ fd }));
  if (socketPath === undefined) {
    return bind(server, `${host} port ${port}`, () => server.listen({ host, port }));
  }
  const problem = findPathProblem(socketPath);
  if (problem !== undefined) throw failed(socketPath, problem);
  try {
    await removeDeadSocket(socketPath);
  } catch (cause) {
    throw failed(socketPath, messageOf(cause), cause);
  }
  return bind(server, socketPath, () => listenPrivately(server, socketPath));
}

/** `ws://ADDRESS:PORT`, `wss://ADDRESS:PORT` or `unix:///PATH` of a server that listens. */
export function describeAddress(server: Server, { tls }: ListenAddress): { url: string; port: number } {
  const address = server.address();
  if (address === null) throw new ChannelError("closed", "websocket listener is closed");
  if (typeof address === "string") return { url: `unix://${address}`, port: 0 };
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return { url: `${tls === undefined ? "ws" : "wss"}://${host}:${address.port}`, port: address.port };
}

function findPathProblem(path: string): string | undefined {
  if (!path.startsWith("/")) return "the path of a unix socket has to be absolute";
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_SOCKET_PATH_BYTES) return undefined;
  return `the path has ${bytes} bytes, and that of a unix socket at most ${MAX_SOCKET_PATH_BYTES}`;
}

function bind(server: Server, name: string, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error) => {
      const reason = errnoOf(cause) === "EADDRINUSE" ? describeUse(name) : cause.message;
      reject(failed(name, reason, cause));
    };
    server.once("error", onError);
    server.once("listening", () => {
      server.off("error", onError);
      // Such as too many open files in `accept`: only that connection is lost.
      server.on("error", () => {});
      resolve();
    });
    listen();
  });
}

/** Why an address is in use: a socket listens there, or something else has the path, such as a link to nothing. Never throws. */
function describeUse(name: string): string {
  if (!name.startsWith("/")) return IN_USE;
  try {
    return statSync(name).isSocket() ? IN_USE : NO_SOCKET;
  } catch {
    return NO_SOCKET;
  }
}

const IN_USE = "the address is in use";
const NO_SOCKET = "it exists and is not a socket";

const failed = (name: string, reason: string, cause?: unknown): ChannelError =>
  new ChannelError("listen_failed", `cannot listen on ${name}: ${reason}`, { cause });
