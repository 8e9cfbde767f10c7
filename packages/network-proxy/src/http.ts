import { createServer, type IncomingMessage, request as requestOf, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { Clock } from "@codex/clock";
import { isPathOfRoute, nameOfRoute, type Target } from "@codex/network-policy";
import type { Failure, Protocol } from "./events.js";
import { type HttpTarget, parseAuthority, parseHttpTarget } from "./http-target.js";
import { MAX_HEAD_BYTES, MAX_HEAD_MS } from "./limits.js";
import { type HostConnection, TargetError } from "./pipeline.js";
import type { Route } from "./route.js";

/** What the HTTP side needs of the proxy. */
export interface HttpPort {
  /** Opens a connection; see `Pipeline.open`. `socket` is the command's, whose end gives up. */
  open(socket: Duplex, target: Target, isForwarded: boolean): Promise<HostConnection>;
  /** Connects both ends until they are closed. */
  join(client: Duplex, host: HostConnection, target: Target): void;
  reportMalformed(socket: Duplex, protocol: Protocol, text: string, reason: Failure): void;
  /** The route that this host is in the sandbox. */
  findRoute(host: string): Route | undefined;
  /** Opens a connection to the host of a route. The reason why a request is refused beforehand is reported. */
  openRoute(socket: Duplex, route: Route, request: { method: string; refusal?: Failure }): Promise<HostConnection>;
  /** Handles HTTP requests of a connection. */
  serve(socket: Duplex): void;
  readonly clock: Pick<Clock, "after">;
}

/**
 * An HTTP proxy that is handed its connections: `CONNECT`, absolute form, and origin form by `Host`. Each request is
 * decided about by itself.
 */
export function createHttpSide(port: HttpPort): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    requireHostHeader: false,
    highWaterMark: 64 * 1024,
  });
  const heads = new HeadDeadlines(port.clock);
  server.on("connection", (socket) => heads.await(socket));
  server.on("request", (request, response) => {
    heads.noteRequest(request.socket);
    response.once("close", () => heads.noteAnswer(request.socket));
    void handleRequest(port, request, response);
  });
  server.on("connect", (request, socket, head) => {
    heads.noteRequest(socket);
    void handleConnect(port, request, socket, head);
  });
  server.on("upgrade", (request, socket, head) => {
    heads.noteRequest(socket);
    void handleUpgrade(port, request, socket, head);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // A client that only ends its connection has asked for nothing.
    if (error.code?.startsWith("HPE_") !== true || error.code === "HPE_INVALID_EOF_STATE") return void socket.destroy();
    port.reportMalformed(socket, "http", "", "malformed");
    if (socket.writable) socket.end(renderFailure("malformed"));
    else socket.destroy();
  });
  return server;
}

/**
 * Disconnects clients that are slow to send a head. The server's own deadlines work only where it listens. Bodies and tunnels may take as
 * long as they like.
 */
class HeadDeadlines {
  readonly #clock: Pick<Clock, "after">;
  readonly #waits = new Map<Duplex, { cancel: () => void; requests: number }>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** A connection is new. */
  await(socket: Duplex): void {
    this.#waits.set(socket, { cancel: this.#start(socket), requests: 0 });
    socket.once("close", () => {
      this.#waits.get(socket)?.cancel();
      this.#waits.delete(socket);
    });
  }

  noteRequest(socket: Duplex): void {
    const wait = this.#waits.get(socket);
    if (wait === undefined) return;
    wait.cancel();
    wait.requests += 1;
  }

  noteAnswer(socket: Duplex): void {
    const wait = this.#waits.get(socket);
    if (wait === undefined) return;
    wait.requests -= 1;
    if (wait.requests === 0) wait.cancel = this.#start(socket);
  }

  #start(socket: Duplex): () => void {
    return this.#clock.after(MAX_HEAD_MS, () => socket.destroy());
  }
}

async function handleConnect(
  port: HttpPort,
  { url = "" }: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  client.on("error", () => client.destroy());
  const target = parseAuthority(url);
  if (target === undefined) {
    port.reportMalformed(client, "connect", url, "malformed");
    return void client.end(renderFailure("malformed"));
  }
  if (head.length > 0) client.unshift(head);
  const full: Target = { ...target, via: { protocol: "connect" } };
  if (port.findRoute(target.host.text) !== undefined && target.port === ROUTE_PORT) {
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    return port.serve(client);
  }
  try {
    const host = await port.open(client, full, true);
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    port.join(client, host, full);
  } catch (error) {
    client.end(renderFailure(reasonOf(error), describe(full)));
  }
}

async function handleRequest(port: HttpPort, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on("error", () => undefined);
  const parsed = parseRequest(port, request);
  if (typeof parsed === "string") return respond(response, parsed);
  const { found, target } = parsed;
  const route = port.findRoute(found.host.text);
  if (route !== undefined) return forwardToRoute(port, route, found, request, response);
  let opened: HostConnection;
  try {
    opened = await port.open(request.socket, target, false);
  } catch (error) {
    return respond(response, reasonOf(error), target);
  }
  const sent = requestOf({ ...forwarded(request, found, false), createConnection: () => opened.socket });
  opened.socket.once("close", opened.release);
  sent.on("error", () => {
    opened.socket.destroy();
    if (response.headersSent) response.destroy();
    else respond(response, "unreachable", target);
  });
  sent.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, keepEndToEnd(answer.rawHeaders));
    answer.on("error", () => response.destroy());
    answer.on("aborted", () => response.destroy());
    answer.pipe(response);
    response.flushHeaders();
  });
  response.once("close", () => opened.socket.destroy());
  request.on("error", () => sent.destroy());
  request.pipe(sent);
}

async function handleUpgrade(port: HttpPort, request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
  client.on("error", () => client.destroy());
  const parsed = parseRequest(port, request);
  if (typeof parsed === "string") return void client.end(renderFailure(parsed));
  const { found, target } = parsed;
  if (port.findRoute(found.host.text) !== undefined)
    return void client.end(renderFailure("malformed", describe(target)));
  try {
    const host = await port.open(client, target, true);
    const { method = "GET", path, headers } = forwarded(request, found, true);
    const lines = pairs(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    host.socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
    if (head.length > 0) client.unshift(head);
    // Whatever the host answers is the answer: the connection is the client's from here on.
    port.join(client, host, target);
  } catch (error) {
    client.end(renderFailure(reasonOf(error), describe(target)));
  }
}

function parseRequest(port: HttpPort, request: IncomingMessage): { found: HttpTarget; target: Target } | Failure {
  if (request.headers["x-unix-socket"] !== undefined) {
    port.reportMalformed(request.socket, "http", "unix-socket", "unix_socket_unsupported");
    return "unix_socket_unsupported";
  }
  const found = parseHttpTarget(request);
  if (found === undefined) {
    port.reportMalformed(request.socket, "http", request.headers.host ?? request.url ?? "", "malformed");
    return "malformed";
  }
  const via = { protocol: "http", method: request.method ?? "GET" } as const;
  return { found, target: { host: found.host, port: found.port, via } };
}

/** The port of the address of a route. */
export const ROUTE_PORT = 80;

/** A request to a route goes to its host, with the header that the sandbox does not know. */
async function forwardToRoute(
  port: HttpPort,
  route: Route,
  found: HttpTarget,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "GET" } = request;
  const { host, authority, prefix } = route.target;
  const target: Target = { host, port: route.target.port, via: { protocol: "http", method } };
  const mayPass = found.port === ROUTE_PORT && isPathOfRoute(route.target, found.path) && found.path.startsWith("/");
  // Read before it is connected: a secret that cannot be read is a refusal of its own.
  const secret = mayPass ? await route.getHeader().catch(() => undefined) : undefined;
  const refusal: Failure | undefined = mayPass
    ? secret === undefined
      ? "secret_unavailable"
      : undefined
    : "path_not_allowed";
  let opened: HostConnection;
  try {
    opened = await port.openRoute(request.socket, route, { method, ...(refusal && { refusal }) });
  } catch (error) {
    return respond(response, reasonOf(error), target);
  }
  const { socket } = opened;
  socket.once("close", opened.release);
  const tls = connectTls({
    socket,
    // What its certificate is checked for.
    host: host.text,
    ALPNProtocols: ["http/1.1"],
    ...(host.address === undefined ? { servername: host.text } : {}),
    ...(route.ca === undefined ? {} : { ca: route.ca }),
  });
  tls.on("error", () => undefined); // the request has it as well
  const [header, value] = secret!; // there is no refusal
  const kept = pairs(forwarded(request, { ...found, authority }, false).headers).filter(
    ([name]) => name.toLowerCase() !== header.toLowerCase(),
  );
  const headers = [...kept.flat(), header, value];
  const sent = requestOf({ method, path: `${prefix}${found.path}`, headers, createConnection: () => tls });
  sent.on("error", () => {
    tls.destroy();
    if (response.headersSent) response.destroy();
    else respond(response, tls.authorizationError ? "untrusted" : "unreachable", target);
  });
  sent.on("response", (answer) => {
    if (answer.statusCode === 401) route.forgetSecret();
    const answered = pairs(keepEndToEnd(answer.rawHeaders)).filter(
      ([name]) => !/^strict-transport-security$/i.test(name),
    );
    const own = answered.map(([name, text]) => [name, /^location$/i.test(name) ? toRouteUrl(text, route) : text]);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, own.flat());
    answer.on("error", () => response.destroy());
    answer.on("aborted", () => response.destroy());
    answer.pipe(response);
    response.flushHeaders();
  });
  response.once("close", () => tls.destroy());
  request.on("error", () => sent.destroy());
  request.pipe(sent);
}

/** Redirections within the route stay within it. */
function toRouteUrl(location: string, { target: { name, authority, prefix } }: Route): string {
  const base = `https://${authority}${prefix}`;
  const own = `http://${nameOfRoute(name)}`;
  if (location === base || location.startsWith(`${base}/`)) return own + location.slice(base.length);
  return prefix !== "" && location.startsWith(`${prefix}/`) ? location.slice(prefix.length) : location;
}

/** The request as the host gets it: without the headers that are between a client and its proxy. */
function forwarded(request: IncomingMessage, { path, authority }: HttpTarget, isUpgrade: boolean) {
  const kept = pairs(keepEndToEnd(request.rawHeaders)).filter(([name]) => !/^host$/i.test(name));
  const { upgrade } = request.headers;
  const hop =
    isUpgrade && upgrade !== undefined ? ["Connection", "Upgrade", "Upgrade", upgrade] : ["Connection", "close"];
  return { method: request.method, path, headers: ["Host", authority, ...kept.flat(), ...hop] };
}

const HOP_BY_HOP = new Set(
  "connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer upgrade".split(" "),
);

/** Names and values in turn. */
function keepEndToEnd(rawHeaders: readonly string[]): string[] {
  const all = pairs(rawHeaders);
  const named = all.filter(([name]) => name.toLowerCase() === "connection").flatMap(([, value]) => value.split(","));
  const dropped = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim().toLowerCase())]);
  return all.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, at) => [rawHeaders[at * 2]!, rawHeaders[at * 2 + 1]!]);
}

/** Status and `x-proxy-error` of a failure; both as Codex has them, where it has the failure. */
const ANSWERS: Readonly<Record<Failure, readonly [number, string, string]>> = {
  malformed: [400, "malformed", "the request names no host and port that a proxy could connect to"],
  denied: [403, "blocked-by-denylist", "a rule forbids this host"],
  not_allowed: [403, "blocked-by-allowlist", "no rule allows this host"],
  not_allowed_local: [403, "blocked-by-allowlist", "the address of this host is not public, and no rule opens it"],
  method_not_allowed: [403, "blocked-by-method-policy", "only GET, HEAD and OPTIONS are allowed"],
  mitm_required: [403, "blocked-by-mitm-required", "only GET, HEAD and OPTIONS of plain HTTP are allowed"],
  sni_mismatch: [403, "blocked-by-policy", "the TLS handshake names another host"],
  path_not_allowed: [403, "blocked-by-policy", "the route does not lead to this path"],
  secret_unavailable: [502, "secret-unavailable", "the secret of the route could not be read"],
  untrusted: [502, "untrusted", "the certificate of the host is not trusted"],
  unix_socket_unsupported: [501, "blocked-by-policy", "unix sockets are not reached through the proxy"],
  too_many_connections: [503, "too-many-connections", "too many connections are open"],
  unresolvable: [502, "unresolvable", "the name has no address"],
  unreachable: [502, "unreachable", "the host refuses connections"],
  timeout: [504, "timeout", "the host does not answer"],
};

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

function reasonOf(error: unknown): Failure {
  return error instanceof TargetError ? error.reason : "unreachable";
}

function describe({ host, port }: Target): string {
  return `${host.text}:${port}`;
}

/** A whole response in text, after which the connection is closed. */
function renderFailure(reason: Failure, place?: string): string {
  const [status, code, text] = ANSWERS[reason];
  const body = `${place === undefined ? "" : `${place}: `}${text}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status]}`,
    `x-proxy-error: ${code}`,
    "content-type: text/plain; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

function respond(response: ServerResponse, reason: Failure, target?: Target): void {
  const [status, code, message] = ANSWERS[reason];
  const place = target === undefined ? {} : { host: target.host.text, port: target.port };
  const body = JSON.stringify({ status: status === 403 ? "blocked" : "failed", reason, ...place, message });
  // What is left of the request is not read.
  response.writeHead(status, STATUS_TEXTS[status], {
    "x-proxy-error": code,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(status === 400 ? { connection: "close" } : {}),
  });
  response.end(body);
}
