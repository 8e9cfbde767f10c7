import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { answerProbe, boundUnadmitted, followTlsSource, type TlsSource, toTlsOptions } from "@codex/channel";
import type { McpServers } from "../mcp-servers.js";
import { createMcpHttpServer, type McpHttpOptions } from "./create-mcp-http-server.js";
import { toHostname } from "./guard.js";

/** Address and authentication of MCP over HTTP. */
export interface McpListenOptions extends McpHttpOptions {
  /** IP address or name to bind. Default `127.0.0.1`. */
  host?: string;
  /** 0 for a free one, which is the default. */
  port?: number;
  /** Descriptor of a socket that listens already, at that address. It is owned. */
  fd?: number;
  /** Certificate and key, PEM: `https`. */
  tls?: TlsSource;
}

/** A listener that serves MCP over HTTP. */
export interface McpListener {
  /** `http://ADDRESS:PORT/mcp` or `https://ADDRESS:PORT/mcp` as bound. */
  readonly url: string;
  /** Ends all MCP sessions and streams, and stops listening. Idempotent; never rejects. */
  close(): Promise<void>;
}

function createSecured(tls: TlsSource, answer: RequestListener) {
  const server = createTlsServer(toTlsOptions(tls), answer);
  followTlsSource(server, tls);
  return server;
}

/**
 * Listens for MCP clients, and answers health probes at `/readyz` and `/healthz`. An address beyond loopback requires `tokens`: a client can run programs.
 * @throws Error if the address or the certificate cannot be used, or tokens are missing
 */
export async function listenMcp(servers: McpServers, options: McpListenOptions = {}): Promise<McpListener> {
  const { host = "127.0.0.1", port = 0, fd, tls, path = "/mcp", allowedHosts = [], ...rest } = options;
  const names = [...allowedHosts, toHostname(host)];
  const http = createMcpHttpServer(servers, {
    ...rest,
    path,
    allowedHosts: names,
    onAdmitted(request) {
      unadmitted.admit(request.socket);
      rest.onAdmitted?.(request);
    },
  });
  const answer: RequestListener = (request, response) => {
    if (!answerProbe(request, response, () => servers.isReady)) void http.handle(request, response);
  };
  const server = tls === undefined ? createServer(answer) : createSecured(tls, answer);
  const unadmitted = boundUnadmitted(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: Error) => {
      reject(new Error(`cannot listen on ${host} port ${port}: ${cause.message}`, { cause }));
    });
    server.listen(fd === undefined ? { host, port } : { fd }, resolve);
  });
  // Such as too many open files: that connection is lost, the listener is not.
  server.removeAllListeners("error").on("error", () => {});
  // It listens on a port, so the address is not a path.
  const bound = server.address() as AddressInfo;
  if (options.tokens === undefined && !isLoopback(bound.address)) {
    server.close();
    throw new Error(
      `${host} can be reached from other machines, and an MCP client can run programs: tokens are needed`,
    );
  }
  let closing: Promise<void> | undefined;
  const close = async () => {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
    await http.close();
    server.closeAllConnections();
    await stopped;
  };
  return {
    url: `${tls === undefined ? "http" : "https"}://${toHostname(bound.address)}:${bound.port}${path}`,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const isLoopback = (address: string): boolean => address === "::1" || /^(::ffff:)?127\./.test(address);
