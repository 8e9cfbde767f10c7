import type { Socket as DatagramSocket } from "node:dgram";
import type { Server as HttpServer } from "node:http";
import type { Server, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import type { Duplex } from "node:stream";
import { type Clock, systemClock } from "@codex/clock";
import type { HttpProxy } from "@codex/http-proxy";
import {
  type Address,
  allowsMethod,
  type CompiledNetworkPolicy,
  nameOfRoute,
  parseAddress,
  parseHost,
  type Target,
} from "@codex/network-policy";
import { EventCounter, type Failure, type NetworkEvent } from "./events.js";
import { createHttpSide, ROUTE_PORT } from "./http.js";
import { MAX_HEAD_MS } from "./limits.js";
import { type HostConnection, Pipeline, TargetError } from "./pipeline.js";
import { type Ask, Questions } from "./questions.js";
import { readChunk } from "./read-chunk.js";
import { type Lookup, lookupOnHost, Resolver } from "./resolver.js";
import type { Route } from "./route.js";
import { SessionNames } from "./session-names.js";
import { readGreeting, readSocksRequest, readUntil, renderReply, type SocksRequest } from "./socks5.js";
import { checkServerName, splice } from "./splice.js";

/** What a proxy allows, whom it asks, and what it tells. */
export interface NetworkProxyOptions {
  policy: CompiledNetworkPolicy;
  /** Answers what no rule decides; absent: that is denied. */
  ask?: Ask;
  /** Whether somebody can be asked for a client; where not, no name is looked up for a question. Default: with `ask`, yes. */
  mayAsk?: (client: string) => boolean;
  /** Called for each decision and each end of a connection; equal decisions within a second are counted. */
  onEvent?: (event: NetworkEvent) => void;
  /** The proxy of the executor's environment for a target: only names are decided about then, as it resolves them. */
  findUpstream?: (target: Target) => HttpProxy | undefined;
  /** Hosts of the session that are the way to others. */
  routes?: readonly Route[];
  lookup?: Lookup;
  clock?: Clock;
}

/** Who connects, by the local address of a connection: what the events call `client`. */
export type Identify = (socket: Socket) => string;

/**
 * Connects the commands of one session to what a policy allows, through listeners that it is given: an HTTP and SOCKS5
 * proxy, a DNS that gives each name an address of the session, and connections to these addresses.
 */
export class NetworkProxy {
  readonly #pipeline: Pipeline;
  readonly #events: EventCounter;
  readonly #names = new SessionNames();
  readonly #http: HttpServer;
  readonly #clock: Clock;
  readonly #connections = new Map<Duplex, string>();
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #mode: CompiledNetworkPolicy["mode"];
  readonly #giveUp = new AbortController();

  constructor(options: NetworkProxyOptions) {
    const { policy, ask, onEvent = () => undefined, lookup = lookupOnHost, clock = systemClock } = options;
    this.#clock = clock;
    this.#mode = policy.mode;
    this.#routes = new Map((options.routes ?? []).map((route) => [nameOfRoute(route.target.name), route]));
    this.#events = new EventCounter(onEvent, clock);
    this.#pipeline = new Pipeline({
      policy,
      resolver: new Resolver(lookup, clock),
      questions: new Questions(ask, options.mayAsk),
      getOwnAddresses,
      findUpstream: options.findUpstream ?? (() => undefined),
      report: (event) => this.#events.add(event),
      clock,
    });
    this.#http = createHttpSide({
      clock,
      open: (socket, target, isForwarded) => this.#open(socket, target, isForwarded),
      join: (client, host, target) => void this.#join(client, host, target),
      findRoute: (host) => this.#routes.get(host),
      openRoute: (socket, route, request) => this.#openRoute(socket, route, request),
      serve: (socket) => void this.#http.emit("connection", socket),
      reportMalformed: (socket, protocol, text, reason) =>
        this.#pipeline.reportMalformed(this.#clientOf(socket), protocol, text, reason),
    });
  }

  /** Serves a listener as an HTTP and SOCKS5 proxy. The caller closes it; it must allow half-open connections. */
  serveProxy(server: Server, identify: Identify): void {
    server.on("connection", (socket: Socket) => {
      this.#add(socket, identify(socket));
      void this.#handleProxied(socket);
    });
  }

  /** Serves a listener at the addresses that the session's DNS gives: the address of a connection tells the name. */
  serveDirect(server: Server, port: number, identify: Identify): void {
    server.on("connection", (socket: Socket) => {
      this.#add(socket, identify(socket));
      void this.#handleDirect(socket, port);
    });
  }

  /** Answers queries for names with addresses of the session. The caller closes the socket. */
  serveDns(socket: DatagramSocket): void {
    this.#names.serve(socket, ({ text: host }) => this.#events.add({ kind: "lookup", host }));
  }

  /** The loopback address at which the session's DNS puts a name, now and later; undefined for no name, or too many. */
  findAddress(name: string): string | undefined {
    const host = parseHost(name);
    return host === undefined || host.address !== undefined ? undefined : this.#names.getAddress(host)?.join(".");
  }

  /** Passes on the events that were counted so far. */
  flushEvents(): void {
    this.#events.flush();
  }

  /** Closes the connections of one client. */
  closeClient(client: string): void {
    for (const [socket, owner] of this.#connections) if (owner === client) socket.destroy();
  }

  /** Closes all connections, and passes on the events that were counted. */
  close(): void {
    this.#giveUp.abort();
    for (const socket of this.#connections.keys()) socket.destroy();
    this.#http.close();
    this.#events.close();
  }

  #add(socket: Socket, client: string): void {
    this.#connections.set(socket, client);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#connections.delete(socket));
    if (this.#giveUp.signal.aborted) socket.destroy();
  }

  #clientOf(socket: Duplex): string {
    return this.#connections.get(socket) ?? "";
  }

  async #handleProxied(socket: Socket): Promise<void> {
    const cancel = this.#clock.after(MAX_HEAD_MS, () => socket.destroy());
    const first = await readChunk(socket);
    if (first === undefined) {
      cancel();
      return void socket.destroy();
    }
    socket.unshift(first);
    if (first[0] === SOCKS_VERSION) return this.#handleSocks(socket, cancel);
    cancel();
    this.#http.emit("connection", socket);
  }

  async #handleSocks(socket: Socket, cancel: () => void): Promise<void> {
    const greeting = await readUntil(socket, (bytes) => {
      const found = readGreeting(bytes);
      return found && { value: found, end: found.end };
    });
    if (greeting === undefined) return void socket.destroy();
    if (!greeting.isAccepted) return void socket.end(greeting.answer);
    socket.write(greeting.answer);
    const request = await readUntil(socket, (bytes) => {
      const found: SocksRequest = readSocksRequest(bytes);
      if (found.kind === "incomplete") return undefined;
      return { value: found, end: found.kind === "connect" ? found.end : bytes.length };
    });
    cancel();
    if (request === undefined) return void socket.destroy();
    if (request.kind === "refused") {
      this.#pipeline.reportMalformed(this.#clientOf(socket), "socks5", request.text, "malformed");
      return void socket.end(request.reply);
    }
    // The request was refused unless its host is one.
    const target: Target = { host: parseHost(request.host)!, port: request.port, via: { protocol: "socks5" } };
    if (this.#isRoute(target)) {
      socket.write(renderReply());
      return void this.#http.emit("connection", socket);
    }
    try {
      const host = await this.#open(socket, target, true);
      socket.write(renderReply());
      await this.#join(socket, host, target);
    } catch (error) {
      socket.end(renderReply(error instanceof TargetError ? error.reason : "unreachable"));
    }
  }

  async #handleDirect(socket: Socket, port: number): Promise<void> {
    const host = this.#names.find(socket.localAddress ?? "");
    if (host === undefined) {
      this.#pipeline.reportMalformed(this.#clientOf(socket), "direct", `${socket.localAddress}:${port}`, "malformed");
      return void socket.resetAndDestroy();
    }
    const target: Target = { host, port, via: { protocol: "direct" } };
    if (this.#isRoute(target)) return void this.#http.emit("connection", socket);
    try {
      await this.#join(socket, await this.#open(socket, target, true), target);
    } catch {
      socket.resetAndDestroy();
    }
  }

  #isRoute({ host, port }: Target): boolean {
    return port === ROUTE_PORT && this.#routes.has(host.text);
  }

  async #openRoute(
    socket: Duplex,
    { target: { host, port, policy } }: Route,
    { method, refusal }: { method: string; refusal?: Failure },
  ): Promise<HostConnection> {
    // TRACE has its request sent back, with what the sandbox must not know.
    const isForbidden = method === "TRACE" || !allowsMethod(this.#mode, method);
    const reason = isForbidden ? "method_not_allowed" : refusal;
    // To the proxy of this host it is a tunnel.
    const target: Target = { host, port, via: { protocol: "connect" } };
    if (reason === undefined) return this.#open(socket, target, false, policy);
    const source = reason === "secret_unavailable" ? "network" : "policy";
    this.#pipeline.reportRefused(
      { client: this.#clientOf(socket), target, signal: this.#giveUp.signal },
      reason,
      source,
    );
    throw new TargetError(reason);
  }

  /** Opens a connection for a command, until it closes its own. */
  async #open(
    socket: Duplex,
    target: Target,
    isForwarded: boolean,
    policy?: CompiledNetworkPolicy,
  ): Promise<HostConnection> {
    const gone = new AbortController();
    const opened = new AbortController();
    const giveUp = () => gone.abort(new Error("the command has closed the connection"));
    socket.once("close", giveUp);
    if (socket.destroyed) giveUp();
    if (isForwarded && isAnswered(target)) void endsAtOnce(socket, opened.signal).then((ends) => ends && giveUp());
    try {
      const wanted = { client: this.#clientOf(socket), target, policy, signal: gone.signal };
      const result = await this.#pipeline.open(wanted, isForwarded);
      this.#reportEnd(result.socket, this.#clientOf(socket), target);
      if (!gone.signal.aborted) return result;
      result.socket.destroy();
      result.release();
      throw gone.signal.reason;
    } finally {
      opened.abort(OPENED);
      socket.off("close", giveUp);
    }
  }

  async #join(client: Duplex, host: HostConnection, target: Target): Promise<void> {
    const owner = this.#clientOf(client);
    const isExpected = () => checkServerName(client, target.host, this.#clock);
    const may = await splice(client, host, isExpected);
    host.release();
    if (!may) this.#pipeline.reportServerName({ client: owner, target, signal: this.#giveUp.signal });
  }

  #reportEnd(socket: Socket, client: string, { host, port, via }: Target): void {
    const began = this.#clock.now();
    // Whoever reads it handles its errors; one that comes when nobody does must not end this process.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      const durationMs = this.#clock.now() - began;
      const bytes = { sent: socket.bytesWritten, received: socket.bytesRead };
      this.#events.add({ kind: "end", client, host: host.text, port, protocol: via.protocol, ...bytes, durationMs });
    });
  }
}

/** Given as a reason, as `AbortController` would create an exception for each connection. */
const OPENED = "opened";

const SOCKS_VERSION = 5;

/** Whether a client waits for an answer before it sends what the host is to get. */
function isAnswered({ via }: Target): boolean {
  return via.protocol === "connect" || via.protocol === "socks5";
}

/** Whether a client that waits for an answer ends without having sent anything. */
async function endsAtOnce(socket: Duplex, signal: AbortSignal): Promise<boolean> {
  const chunk = await readChunk(socket, signal);
  if (chunk !== undefined && !socket.destroyed) socket.unshift(chunk);
  return chunk === undefined && !signal.aborted;
}

function getOwnAddresses(): Address[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.map(({ address }) => parseAddress(address.replace(/%.*/s, ""))).filter((each) => each !== undefined);
}
