import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, systemClock } from "@codex/clock";
import { createRegistry, METRICS_CONTENT_TYPE, renderMetrics, type Telemetry } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { WebSocketServer } from "ws";
import { type Access, createAccess } from "./auth/access.js";
import { isSigned } from "./auth/sigv4.js";
import { Entrances } from "./entrances.js";
import { asRefusal, refuseUpgrade, sendJson, sendRefusal, sendText } from "./http/answer.js";
import { checkRequest, checkUpgrade } from "./http/check-request.js";
import { readBody } from "./http/read-body.js";
import { isSocketRoute, parseRoute, type Route } from "./http/route.js";
import { type RendezvousLimits, resolveLimits } from "./limits.js";
import { createMetrics, type RendezvousMetrics } from "./metrics.js";
import { ConnectionGone, Refusal } from "./refusal.js";
import { type Cluster, createSingleNode } from "./registry/cluster.js";
import { listExecutors } from "./registry/list-executors.js";
import { Registrations } from "./registry/registrations.js";
import { Registry, type RegistryRequest } from "./registry/registry.js";
import { CLOSE } from "./sockets/close-code.js";
import { Connection } from "./sockets/connection.js";
import { Heartbeat } from "./sockets/heartbeat.js";
import { createTicketOffice } from "./tickets/ticket.js";
import { createUsedTickets } from "./tickets/used-tickets.js";

/** Options of `Rendezvous`; all optional. */
export interface RendezvousOptions {
  /** Authorization. Default: every client may do everything. */
  access?: Access;
  /** Refuses unencrypted executors and harnesses. Default false. */
  noiseOnly?: boolean;
  /** Key of the tickets, at least 32 bytes. Default: a random one, so that no ticket survives a restart. Not with `cluster`. */
  ticketKey?: Uint8Array;
  /** Other nodes of the same rendezvous; the rendezvous owns it. Default: none. */
  cluster?: Cluster;
  limits?: Partial<RendezvousLimits>;
  telemetry?: Telemetry;
  clock?: Clock;
  /** Milliseconds since 1970. Default `Date.now`. */
  wallClock?: () => number;
  createId?: () => string;
}

/** Called with a connection that need not be bounded any more as one without authorization. */
type Admit = (wire: Duplex) => void;

/** Routes that respond in any state. */
const PROBES: ReadonlySet<Route["kind"]> = new Set(["ready", "health", "metrics"]);

/** Routes of GET. */
const READ_ROUTES: ReadonlySet<Route["kind"]> = new Set(["ready", "health", "metrics", "list"]);

/** Keep-alive probes of TCP begin after this time, milliseconds. */
const KEEP_ALIVE_MS = 15_000;

/** Registry and relay of executors and harnesses; the caller provides the listening HTTP server. */
export class Rendezvous {
  readonly limits: RendezvousLimits;
  readonly #access: Access;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #metricRegistry;
  readonly #metrics: RendezvousMetrics;
  readonly #registrations: Registrations;
  readonly #registry: Registry;
  readonly #entrances: Entrances;
  readonly #heartbeat: Heartbeat;
  readonly #cluster: Cluster;
  readonly #connections = new Set<Connection>();
  /** Websocket servers by maximum message size. */
  readonly #upgraders = new Map<number, WebSocketServer>();
  #requests = 0;
  #isDraining = false;
  /** With other nodes: until their registrations have been received. */
  #isJoining: boolean;

  constructor(options: RendezvousOptions = {}) {
    const { noiseOnly = false, clock = systemClock, wallClock = Date.now, telemetry = {} } = options;
    const limits = resolveLimits(options.limits);
    this.limits = limits;
    this.#access = options.access ?? createAccess([]);
    this.#clock = clock;
    this.#telemetry = telemetry;
    this.#metricRegistry = telemetry.metrics ?? createRegistry();
    const metrics = createMetrics(this.#metricRegistry);
    this.#metrics = metrics;
    const log = telemetry.log ?? {};
    this.#heartbeat = new Heartbeat({
      clock,
      pingMs: limits.pingMs,
      silenceMs: limits.silenceMs,
      probeMs: limits.probeMs,
      createPayload: () => spreadPayload(sum(metrics.executors), limits.dialsPerSecond),
      onSilent: () => {
        metrics.silent.value += 1;
      },
    });
    this.#cluster = options.cluster ?? createSingleNode(limits, () => clock.now(), options.ticketKey);
    this.#isJoining = options.cluster !== undefined;
    this.#registrations = new Registrations({
      clock,
      wallClock,
      mayExpire: () => this.#cluster.isConnected,
      leaseMs: limits.leaseMs,
      max: limits.maxRegistrations,
      onReplaced: ({ environmentId }) => {
        metrics.replaced.value += 1;
        log.info?.("registration replaced", { environment: environmentId });
      },
    });
    this.#registry = new Registry({
      registrations: this.#registrations,
      cluster: this.#cluster,
      tickets: createTicketOffice(this.#cluster.ticketKey),
      usedTickets: createUsedTickets(wallClock, limits.maxUsedTickets),
      limits,
      metrics,
      clock,
      wallClock,
      createId: options.createId ?? randomUUID,
      noiseOnly,
    });
    this.#entrances = new Entrances({
      access: this.#access,
      registry: this.#registry,
      registrations: this.#registrations,
      heartbeat: this.#heartbeat,
      limits,
      metrics,
      clock,
      log,
      noiseOnly,
    });
  }

  /**
   * Joins the cluster, if there is one; until then requests get 503. Call once.
   * @param nodeUrl `ws://…` URL of this node for harnesses
   * @throws Error if the cluster cannot be reached
   */
  async join(nodeUrl: string): Promise<void> {
    if (!this.#isJoining) return;
    this.#registry.nodeUrl = nodeUrl;
    await this.#cluster.join({
      registrations: this.#registrations,
      limits: this.limits,
      answer: (request) => {
        if (this.#isDraining) throw new Refusal("executor_away", "the node is shutting down", 1);
        return this.#registry.answerNode(request);
      },
    });
    this.#isJoining = false;
  }

  /**
   * Handles a request. Never throws.
   * @param publicUrl `ws://…` URL of this rendezvous for the client
   * @param admit called with the connection of a request that is authorized
   */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    publicUrl: string,
    admit: Admit = () => {},
  ): Promise<void> {
    const startedAt = this.#clock.now();
    this.#requests += 1;
    try {
      await this.#answer(request, response, publicUrl, () => admit(request.socket));
    } catch (error) {
      if (error instanceof ConnectionGone) response.destroy();
      else sendRefusal(response, this.#refusalOf(error));
    } finally {
      this.#requests -= 1;
      this.#metrics.requestSeconds.observe((this.#clock.now() - startedAt) / 1000);
    }
  }

  /** Opens a websocket, or refuses it. Never throws. @param admit called with the connection of a request that is authorized */
  async upgrade(request: IncomingMessage, wire: Duplex, head: Buffer, admit: Admit = () => {}): Promise<void> {
    const onError = () => {};
    wire.on("error", onError);
    if (wire instanceof Socket) wire.setKeepAlive(true, KEEP_ALIVE_MS);
    try {
      const route = this.#findRoute(request);
      if (!isSocketRoute(route)) throw new Refusal("bad_request", "this path is not for a websocket");
      checkUpgrade(request);
      this.#requireOpen();
      await this.#entrances.enter({
        route,
        request,
        wire,
        query: new URLSearchParams(queryOf(request)),
        admit: () => admit(wire),
        accept: (maxBytes) => this.#accept(request, wire, head, maxBytes),
      });
      wire.off("error", onError);
    } catch (error) {
      if (error instanceof ConnectionGone || wire.destroyed) wire.destroy();
      else refuseUpgrade(wire, this.#refusalOf(error));
    }
  }

  /** Number of unencrypted harnesses that wait for an executor of the environment. */
  countWaiting(environmentId: string): number {
    return this.#registrations.countWaiting(environmentId);
  }

  /** Starts to refuse new requests. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Asks all clients to reconnect, and terminates those that stay. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.drain();
    this.#heartbeat.close();
    this.#registrations.close();
    const gone = [...this.#connections].map(
      (connection) => new Promise<void>((resolve) => connection.onClose(resolve)),
    );
    for (const connection of this.#connections) connection.close(CLOSE.draining, "the rendezvous is shutting down");
    await Promise.all(gone);
    await this.#cluster.close();
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    publicUrl: string,
    admit: () => void,
  ): Promise<void> {
    const route = this.#findRoute(request);
    if (isSocketRoute(route)) throw new Refusal("upgrade_required", "this path is for a websocket");
    const isRead = READ_ROUTES.has(route.kind);
    const methods = isRead ? ["GET", "HEAD"] : ["POST"];
    if (!methods.includes(request.method ?? "")) {
      response.setHeader("allow", methods.join(", "));
      throw new Refusal("method_not_allowed", `expected ${methods.join(" or ")}`);
    }
    if (!PROBES.has(route.kind)) {
      this.#requireOpen();
      if (this.#requests > this.limits.maxRequests) {
        throw new Refusal("too_busy", "too many requests are in progress", 1);
      }
    }
    switch (route.kind) {
      case "health":
        return sendText(response, 200, "text/plain", "ok\n");
      case "ready":
        this.#requireOpen();
        return sendText(response, 200, "text/plain", "ready\n");
      case "metrics":
        await this.#access.requireMetrics(request.headers);
        admit();
        return sendText(response, 200, METRICS_CONTENT_TYPE, renderMetrics(this.#metricRegistry));
      case "list": {
        const { mayConnect } = await this.#access.requireHarness(request.headers);
        admit();
        return sendJson(response, 200, { executors: listExecutors(this.#registrations.all(), mayConnect) });
      }
      case "connectLabels": {
        const { principal, mayConnect } = await this.#access.requireHarness(request.headers);
        admit();
        const body = await this.#readBody(request);
        const { environmentId } = this.#registry.findByLabels(body, mayConnect);
        return sendJson(response, 200, await this.#registry.connect({ environmentId, body, principal, publicUrl }));
      }
      default:
        return sendJson(response, 200, await this.#answerRegistry(route, request, publicUrl, admit));
    }
  }

  async #answerRegistry(
    { kind, environmentId }: Extract<Route, { environmentId: string }>,
    request: IncomingMessage,
    publicUrl: string,
    admit: () => void,
  ): Promise<object> {
    const action = kind === "connect" ? "connect" : "register";
    const { headers } = request;
    const isSignature = kind === "registerDirect" && isSigned(headers);
    const known = isSignature ? undefined : await this.#access.require(headers, environmentId, action);
    if (known !== undefined) admit();
    const body = await this.#readBody(request);
    const signed = { method: "POST", path: pathOf(request), headers, body };
    const principal = known ?? (await this.#access.requireSigned(signed, environmentId, action));
    admit();
    const asked: RegistryRequest = { environmentId, body, principal, publicUrl };
    if (kind === "register") return this.#registry.register(asked);
    if (kind === "registerDirect") return this.#registry.registerDirect(asked);
    if (kind === "connect") return this.#registry.connect(asked);
    const streamId = request.headers["x-codex-noise-stream-id"];
    return this.#registry.validate(asked, typeof streamId === "string" ? streamId : undefined);
  }

  /** @throws Refusal; ConnectionGone */
  #readBody(request: IncomingMessage): Promise<string> {
    const { maxBodyBytes, bodyDeadlineMs } = this.limits;
    return readBody(request, { clock: this.#clock, maxBytes: maxBodyBytes, deadlineMs: bodyDeadlineMs });
  }

  /** @throws Refusal `draining`, `nodes_away` */
  #requireOpen(): void {
    if (this.#isDraining) throw new Refusal("draining", "the rendezvous is shutting down", 1);
    if (this.#isJoining) throw new Refusal("nodes_away", "the node has not joined the others yet", 1);
  }

  /** @throws Refusal */
  #findRoute(request: IncomingMessage): Route {
    const route = parseRoute(pathOf(request));
    // Health checks need no authorization, and reveal nothing.
    if (route?.kind === "ready" || route?.kind === "health") return route;
    checkRequest(request, this.#access.isGuarded);
    if (route === undefined) throw new Refusal("not_found", "there is nothing at this path");
    return route;
  }

  #accept(request: IncomingMessage, wire: Duplex, head: Buffer, maxBytes: number): Connection {
    if (wire.destroyed) throw new ConnectionGone("the connection was closed before the websocket was open");
    const upgrader = this.#upgraders.get(maxBytes) ?? createUpgrader(maxBytes);
    this.#upgraders.set(maxBytes, upgrader);
    let connection: Connection | undefined;
    upgrader.handleUpgrade(request, wire, head, (socket) => {
      connection = new Connection(socket, wire, this.#clock, this.limits.closeMs);
    });
    // The request was validated, so the library opens it synchronously.
    if (connection === undefined) throw new ConnectionGone("the websocket was not opened");
    const opened = connection;
    this.#connections.add(opened);
    opened.onClose(() => this.#connections.delete(opened));
    return opened;
  }

  #refusalOf(error: unknown): Refusal {
    const refusal = asRefusal(error);
    this.#metrics.refusals[refusal.code].value += 1;
    const { log } = this.#telemetry;
    if (refusal.code === "internal") log?.error?.("request failed", { reason: messageOf(error) });
    else log?.debug?.("refused", { code: refusal.code });
    return refusal;
  }
}

/** Payload of a ping, which Codex ignores: the time over which executors spread their return if the node fails. */
const spreadPayload = (executors: number, dialsPerSecond: number): string =>
  `spread=${Math.ceil((executors / dialsPerSecond) * 1000)}`;

const sum = (gauges: RendezvousMetrics["executors"]): number =>
  Object.values(gauges).reduce((total, { value }) => total + value, 0);

const createUpgrader = (maxPayload: number): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    skipUTF8Validation: true,
    handleProtocols: () => false,
    maxPayload,
  });

const pathOf = ({ url = "" }: IncomingMessage): string => url.split("?", 1)[0]!;

const queryOf = ({ url = "" }: IncomingMessage): string => url.slice(pathOf({ url } as IncomingMessage).length);
