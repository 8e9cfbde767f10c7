import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "@codex/clock";
import type { Logger } from "@codex/telemetry";
import type { Access } from "./auth/access.js";
import { DirectExecutor } from "./direct/direct-executor.js";
import type { SocketRoute } from "./http/route.js";
import type { RendezvousLimits } from "./limits.js";
import type { RendezvousMetrics, Transport } from "./metrics.js";
import { Refusal } from "./refusal.js";
import { Rate } from "./registry/rate.js";
import type { ExecutorLink, Registration, Registrations } from "./registry/registrations.js";
import { type Registry, requireRoom } from "./registry/registry.js";
import { ExecutorRelay } from "./relay/executor-relay.js";
import { UnreadBytes } from "./relay/unread.js";
import type { Connection } from "./sockets/connection.js";
import type { Heartbeat } from "./sockets/heartbeat.js";
import { holdUntil } from "./sockets/hold.js";

/** Collaborators of `Entrances`. */
export interface EntrancesOptions {
  access: Access;
  registry: Registry;
  registrations: Registrations;
  heartbeat: Heartbeat;
  limits: RendezvousLimits;
  metrics: RendezvousMetrics;
  clock: Pick<Clock, "now" | "after">;
  log: Logger;
  noiseOnly: boolean;
}

/** An upgrade request. */
export interface SocketRequest {
  route: SocketRoute;
  request: IncomingMessage;
  wire: Duplex;
  query: URLSearchParams;
  /** Called once it is authorized; from then on it may wait. */
  admit: () => void;
  /** Opens the websocket synchronously. @param maxBytes maximum message size */
  accept: (maxBytes: number) => Connection;
}

/** `Retry-After` of an executor that dialled during a burst, seconds. */
const DIAL_RETRY_S = 5;

/** Accepts the websockets of executors and harnesses, and connects them with each other. */
export class Entrances {
  readonly #options: EntrancesOptions;
  readonly #unread: UnreadBytes;
  readonly #dials: Rate;

  constructor(options: EntrancesOptions) {
    this.#options = options;
    const { dialsPerSecond } = options.limits;
    this.#dials = new Rate(2 * dialsPerSecond, 2 * dialsPerSecond, () => options.clock.now());
    this.#unread = new UnreadBytes(options.metrics.unread, options.limits.maxTotalUnreadBytes);
  }

  /** Resolves when the websocket is open. @throws Refusal, ConnectionGone */
  async enter(socket: SocketRequest): Promise<void> {
    const { kind } = socket.route;
    switch (kind) {
      case "relayExecutor":
        return this.#enterExecutor(socket, ["noise", "legacy"]);
      case "directExecutor":
        return this.#enterExecutor(socket, ["direct"]);
      case "relayHarness":
        return this.#enterWithTicket(socket);
      case "legacyHarness":
        if (socket.query.get("role") !== "harness") throw new Refusal("bad_request", "expected ?role=harness");
        return this.#enterClear(socket, "legacy");
      case "directHarness":
        return this.#enterClear(socket, "direct");
    }
  }

  async #enterExecutor(
    { route, query, admit, accept }: SocketRequest,
    transports: readonly Transport[],
  ): Promise<void> {
    const { registry, registrations, heartbeat, log } = this.#options;
    if (!this.#dials.take()) {
      throw new Refusal("too_busy", "too many executors are connecting", DIAL_RETRY_S);
    }
    const registration = await registry.admitExecutor(route.environmentId, query.get("ticket") ?? "");
    admit();
    const { transport, environmentId } = registration;
    if (!transports.includes(transport)) {
      throw new Refusal("registration_unknown", `the registration is for ${transport}`);
    }
    const connection = accept(this.#maxReadBytes(transport));
    const link = this.#createLink(registration, connection);
    this.#watch(connection, "executors", transport);
    log.info?.("executor connected", { environment: environmentId, transport });
    connection.onClose(() => {
      registrations.detach(registration, link);
      log.info?.("executor disconnected", { environment: environmentId, transport });
    });
    registrations.attach(registration, link);
    heartbeat.ping(connection);
  }

  #createLink({ transport }: Registration, connection: Connection): ExecutorLink {
    const { limits, metrics, clock, heartbeat } = this.#options;
    if (transport === "direct") return new DirectExecutor({ connection, limits, metrics });
    return new ExecutorRelay({
      connection,
      limits,
      maxFrameBytes: transport === "noise" ? limits.maxRelayMessageBytes : limits.maxClearMessageBytes,
      metrics,
      clock,
      unread: this.#unread,
      probe: (other) => heartbeat.probe(other),
    });
  }

  #enterWithTicket({ route, query, admit, accept }: SocketRequest): void {
    const { registry, registrations } = this.#options;
    const { registration, ticketId } = registry.admitHarness(route.environmentId, query.get("ticket") ?? "");
    admit();
    const link = registrations.getLink(registration);
    if (!(link instanceof ExecutorRelay)) throw new Refusal("executor_away", "the executor is not connected", 1);
    this.#welcome(accept(this.#maxReadBytes("noise")), link, "noise", ticketId);
  }

  /** Waits for an executor: a direct one reconnects after each harness, and unencrypted clients do not call `connect` first. */
  async #enterClear(
    { route: { environmentId }, request, wire, admit, accept }: SocketRequest,
    transport: "legacy" | "direct",
  ): Promise<void> {
    const { access, registrations, limits, clock, noiseOnly } = this.#options;
    await access.require(request.headers, environmentId, "connect");
    admit();
    if (noiseOnly)
      throw new Refusal("clear_transport", "harnesses have to speak Noise here; clear text is not accepted");
    if (registrations.countWaiting(environmentId) >= limits.maxHeld) {
      throw new Refusal(
        "too_many_waiting",
        `${limits.maxHeld} others are already waiting for the executor of ${environmentId}`,
        5,
      );
    }
    await holdUntil(
      {
        wire,
        clock,
        ms: limits.holdMs,
        find: () => this.#findClear(environmentId, transport),
        subscribe: (run) => registrations.onAttach(environmentId, run),
        createError: () => new Refusal("executor_away", `no executor of ${environmentId} is free`, 5),
      },
      (link) => this.#welcome(accept(limits.maxClearMessageBytes), link, transport, undefined),
    );
  }

  #findClear(environmentId: string, transport: "legacy" | "direct"): ExecutorRelay | DirectExecutor | undefined {
    const { registrations, heartbeat } = this.#options;
    registrations.requireOpen();
    const registration = registrations.get(environmentId);
    if (registration === undefined) return undefined;
    if (registration.transport !== transport) {
      throw new Refusal(
        "clear_transport",
        `the executor of ${environmentId} speaks ${registration.transport}, not ${transport}`,
      );
    }
    const link = registrations.getLink(registration);
    if (link instanceof DirectExecutor) {
      if (link.harness === undefined) return link;
      // It may be an earlier connection of the waiting client.
      heartbeat.probe(link.harness);
      return undefined;
    }
    if (!(link instanceof ExecutorRelay)) return undefined;
    requireRoom(link, this.#options.limits.maxHarnesses);
    return link;
  }

  #welcome(
    connection: Connection,
    link: ExecutorRelay | DirectExecutor,
    transport: Transport,
    ticketId: string | undefined,
  ): void {
    this.#watch(connection, "harnesses", transport);
    link.addHarness(connection, ticketId);
  }

  #watch(connection: Connection, side: "executors" | "harnesses", transport: Transport): void {
    const { heartbeat, metrics } = this.#options;
    heartbeat.watch(connection);
    const live = metrics[side][transport];
    live.value += 1;
    connection.onClose(() => {
      live.value -= 1;
    });
  }

  #maxReadBytes(transport: Transport): number {
    const { maxReadRelayMessageBytes, maxClearMessageBytes } = this.#options.limits;
    return transport === "noise" ? maxReadRelayMessageBytes : maxClearMessageBytes;
  }
}
