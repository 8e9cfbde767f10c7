import type { Clock } from "@codex/clock";
import type { Principal } from "../auth/principal.js";
import type { RendezvousLimits } from "../limits.js";
import type { RendezvousMetrics, Transport } from "../metrics.js";
import { Refusal } from "../refusal.js";
import type { Ticket, TicketOffice, TicketUse } from "../tickets/ticket.js";
import type { UsedTickets } from "../tickets/used-tickets.js";
import { chooseExecutor } from "./choose.js";
import { type Cluster, NodeGone, type NodeRequest } from "./cluster.js";
import {
  connectSchema,
  DIRECT_TRANSPORT,
  directRegisterSchema,
  type Labels,
  parseBody,
  registerSchema,
  requireDirect,
  requireProfile,
  validateSchema,
} from "./messages.js";
import { hashKey, type PublicKey, SECURITY_PROFILE } from "./public-key.js";
import { Rate } from "./rate.js";
import { RecentSends } from "./recent-sends.js";
import { type Entry, type ExecutorLink, memberKeyOf, type Registration, type Registrations } from "./registrations.js";

/** Collaborators of `Registry`. */
export interface RegistryOptions {
  registrations: Registrations;
  cluster: Cluster;
  tickets: TicketOffice;
  usedTickets: UsedTickets;
  limits: RendezvousLimits;
  metrics: RendezvousMetrics;
  clock: Pick<Clock, "now" | "after">;
  /** Milliseconds since 1970. */
  wallClock: () => number;
  createId: () => string;
  /** Refuses executors in clear text. */
  noiseOnly: boolean;
}

/** A request to the registry that was authorized. */
export interface RegistryRequest {
  environmentId: string;
  body: string;
  principal: Principal;
  /** `ws://HOST:PORT` or `wss://HOST:PORT` at which the requester reaches the rendezvous, possibly with a path. */
  publicUrl: string;
}

/** Registers executors, sends harnesses to them, and validates harnesses for executors. Each method returns the JSON of its response. */
export class Registry {
  /** `ws://…` or `wss://…` of this particular node; undefined: the URL of the request. */
  nodeUrl: string | undefined;
  readonly #options: RegistryOptions;
  readonly #rates = new WeakMap<Registration, Rate>();
  readonly #sends: RecentSends;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#sends = new RecentSends(() => options.clock.now());
  }

  /** Registers an executor with Noise, or, for an empty body, one that sends unencrypted relay frames. @throws Refusal */
  async register(request: RegistryRequest): Promise<object> {
    const { environmentId, body } = request;
    if (body === "") {
      const { url } = await this.#add(request, { transport: "legacy" });
      return { environment_id: environmentId, url };
    }
    const message = parseBody(registerSchema, body);
    requireProfile(message.security_profile);
    const { executor_public_key: key, name = "", version = "", labels = {} } = message;
    // Without a name each executor with labels is a separate member; Codex's executor sends neither.
    const member = name === "" && Object.keys(labels).length > 0 ? hashKey(key) : name;
    const { url, id } = await this.#add(request, { transport: "noise", key, member, name, version, labels });
    return {
      environment_id: environmentId,
      url,
      security_profile: message.security_profile,
      executor_registration_id: id,
      lease_ms: this.#options.limits.leaseMs,
    };
  }

  /** @throws Refusal */
  async registerDirect(request: RegistryRequest): Promise<object> {
    requireDirect(parseBody(directRegisterSchema, request.body).transport);
    const { url, id } = await this.#add(request, { transport: "direct" });
    return { environment_id: request.environmentId, transport: DIRECT_TRANSPORT, registration_id: id, url };
  }

  /**
   * Finds the environment of an executor with all labels of the request: the connected one with the fewest harnesses.
   * @throws Refusal `executor_away`; `bad_request` without labels
   */
  findByLabels(body: string, mayConnect: (environmentId: string) => boolean): { environmentId: string } {
    const { registrations, clock, limits } = this.#options;
    const { labels = {} } = parseBody(connectSchema, body);
    if (Object.keys(labels).length === 0) throw new Refusal("bad_request", "`labels` has no label");
    const entries = [...registrations.all()].filter(({ registration }) => {
      return registration.key !== undefined && mayConnect(registration.environmentId);
    });
    const chosen = chooseExecutor(entries, {
      former: undefined,
      labels,
      now: clock.now(),
      awayMs: limits.stickyAwayMs,
      maxHarnesses: limits.maxHarnesses,
      countSent: ({ registration }) => this.#sends.count(registration),
    });
    if (chosen === "full") throw createFull(limits.maxHarnesses);
    if (typeof chosen !== "object") throw new Refusal("executor_away", "no executor with these labels is connected", 1);
    this.#sends.note(chosen.registration);
    return chosen.registration;
  }

  /**
   * Sends a harness to an executor of the environment, at the node to which it is connected.
   * @throws Refusal `executor_away`, also for an unknown environment: its executor may be about to register
   */
  async connect(request: RegistryRequest): Promise<object> {
    const { environmentId, body, principal, publicUrl } = request;
    const { registrations, cluster, clock, limits } = this.#options;
    const { harness_public_key, labels = {} } = parseBody(connectSchema, body);
    const keyHash = hashKey(harness_public_key);
    const until = clock.now() + limits.connectHoldMs;
    for (;;) {
      const entry = await this.#choose(environmentId, labels, keyHash);
      if (entry === undefined) {
        await this.#waitForExecutor(environmentId, until);
        continue;
      }
      const { registration, place, link } = entry;
      try {
        if (link !== undefined) return this.#connectHere(registration, keyHash, principal.expiresAt, publicUrl);
        const asked = { kind: "connect", environmentId, registrationId: registration.id, body } as const;
        return await cluster.ask(place?.nodeId ?? "", { ...asked, expiresAt: principal.expiresAt });
      } catch (error) {
        const isMoved = error instanceof Refusal && error.code === "executor_away";
        if (place === undefined || (!isMoved && !(error instanceof NodeGone))) throw error;
        const isSlow = error instanceof NodeGone && !error.isCertain;
        registrations.forget(registration, place, isSlow ? limits.nodeTimeoutMs : undefined);
      }
    }
  }

  /**
   * Whether the harness may be admitted; each authorization is valid once.
   * @param streamId stream of the harness, if the executor sends it
   * @throws Refusal if the request is not from the current executor
   */
  async validate(request: RegistryRequest, streamId: string | undefined): Promise<object> {
    const { environmentId, body } = request;
    const { tickets, cluster } = this.#options;
    const nodeId = tickets.read(parseBody(validateSchema, body).harness_key_authorization)?.nodeId ?? cluster.nodeId;
    if (nodeId === cluster.nodeId) return this.#validateHere(environmentId, body, streamId);
    try {
      return await cluster.ask(nodeId, { kind: "validate", environmentId, body, streamId });
    } catch (error) {
      if (!(error instanceof NodeGone)) throw error;
      return this.#judge("ticket_expired");
    }
  }

  /** Handles a request of another node. @throws Refusal */
  answerNode({ kind, environmentId, registrationId = "", body, expiresAt, streamId }: NodeRequest): object {
    if (kind === "validate") return this.#validateHere(environmentId, body, streamId);
    const entry = this.#options.registrations.find(environmentId, registrationId);
    if (entry?.link === undefined) throw createAway(environmentId);
    const { harness_public_key } = parseBody(connectSchema, body);
    return this.#connectHere(entry.registration, hashKey(harness_public_key), expiresAt, "");
  }

  /**
   * The registration whose executor connects with a ticket.
   * @throws Refusal `registration_unknown` for any invalid ticket, as it makes Codex register again
   */
  async admitExecutor(environmentId: string, text: string): Promise<Registration> {
    const { tickets, registrations, cluster, wallClock } = this.#options;
    const ticket = tickets.read(text);
    if (ticket?.use === "executor" && ticket.environmentId === environmentId) {
      const find = () => registrations.find(environmentId, ticket.registrationId)?.registration;
      if (find() === undefined) await cluster.refresh(environmentId, memberKeyOf(ticket.member ?? ""));
      const registration = find();
      const isValid = (registration?.expiresAt ?? Number.POSITIVE_INFINITY) > wallClock();
      if (registration !== undefined && isValid) return registration;
      // Another node may have it.
      if (registration === undefined && !cluster.isConnected) {
        throw new Refusal("nodes_away", "the other nodes cannot be asked about the registration", 1);
      }
    }
    throw new Refusal("registration_unknown", "the registration is unknown or was replaced; register again");
  }

  /** The registration to which a harness connects with a ticket, which can be used once. @throws Refusal */
  admitHarness(environmentId: string, text: string): { registration: Registration; ticketId: string } {
    const { tickets, registrations, cluster, limits } = this.#options;
    const ticket = tickets.read(text);
    if (ticket === undefined) throw new Refusal("ticket_invalid", "the ticket is not valid; connect again");
    if (ticket.use !== "harness" || ticket.environmentId !== environmentId) {
      throw new Refusal("ticket_foreign", "the ticket is for something else");
    }
    if ((ticket.nodeId ?? "") !== cluster.nodeId) {
      throw new Refusal("executor_away", "the ticket is for another node; connect again", 1);
    }
    const entry = registrations.find(environmentId, ticket.registrationId);
    if (entry === undefined) {
      throw new Refusal("executor_away", "the executor of the ticket was replaced; connect again", 1);
    }
    if (entry.link === undefined) throw createAway(environmentId);
    requireRoom(entry.link, limits.maxHarnesses);
    this.#spend(ticket);
    return { registration: entry.registration, ticketId: ticket.id };
  }

  /** The executor for a harness; undefined if one may connect soon. @throws Refusal if there is none, or all are full */
  async #choose(environmentId: string, labels: Labels, keyHash: string): Promise<Entry | undefined> {
    const { registrations, cluster, clock, limits } = this.#options;
    const entries = registrations.list(environmentId);
    const isPool = entries.length > 1;
    const harness = `${environmentId}.${keyHash}`;
    const former = isPool ? await cluster.recall(harness) : undefined;
    const chosen = chooseExecutor(isPool ? registrations.list(environmentId) : entries, {
      former,
      labels,
      now: clock.now(),
      awayMs: limits.stickyAwayMs,
      maxHarnesses: limits.maxHarnesses,
      countSent: ({ registration }) => this.#sends.count(registration),
    });
    if (chosen === undefined) throw createAway(environmentId);
    if (chosen === "full") throw createFull(limits.maxHarnesses);
    if (chosen === "wait") return undefined;
    if (chosen.registration.key === undefined) {
      throw new Refusal("clear_transport", `the executor of ${environmentId} does not speak Noise`);
    }
    if (isPool) {
      this.#sends.note(chosen.registration);
      cluster.remember(harness, chosen.registration.member);
    }
    return chosen;
  }

  /** Resolves when an executor has connected. @throws Refusal after the time limit */
  #waitForExecutor(environmentId: string, until: number): Promise<void> {
    const { registrations, clock, limits } = this.#options;
    const ms = until - clock.now();
    if (ms <= 0 || registrations.countWaiting(environmentId) >= limits.maxHeld) {
      return Promise.reject(createAway(environmentId));
    }
    return new Promise<void>((resolve, reject) => {
      const cancel = clock.after(ms, () => {
        stop();
        reject(createAway(environmentId));
      });
      const stop = registrations.onAttach(environmentId, () => {
        stop();
        cancel();
        resolve();
      });
    }).then(() => registrations.requireOpen());
  }

  #connectHere(
    registration: Registration,
    keyHash: string,
    credentialExpiresAt: number | undefined,
    publicUrl: string,
  ): object {
    const { registrations, limits, metrics, createId, wallClock, cluster } = this.#options;
    const { environmentId } = registration;
    const link = registrations.getLink(registration);
    if (link === undefined) throw createAway(environmentId);
    requireRoom(link, limits.maxHarnesses);
    if (!this.#rateOf(registration).take()) {
      throw new Refusal("too_many_connects", `too many connect requests for ${environmentId}`, 1);
    }
    const expiresAt = Math.min(wallClock() + limits.ticketMs, credentialExpiresAt ?? Number.POSITIVE_INFINITY);
    const nodeId = cluster.nodeId === "" ? undefined : cluster.nodeId;
    const ticket = { id: createId(), keyHash, expiresAt, nodeId };
    metrics.connects.value += 1;
    const base = this.nodeUrl ?? publicUrl;
    return {
      environment_id: environmentId,
      url: `${base}/relay/${environmentId}/harness?ticket=${this.#sign(registration, "harness", ticket)}`,
      security_profile: SECURITY_PROFILE,
      executor_registration_id: registration.id,
      executor_public_key: registration.key,
      harness_key_authorization: this.#sign(registration, "authorization", ticket),
      expires_at: Math.floor(expiresAt / 1000),
    };
  }

  #validateHere(environmentId: string, body: string, streamId: string | undefined): object {
    const message = parseBody(validateSchema, body);
    const entry = this.#options.registrations.find(environmentId, message.executor_registration_id);
    if (entry === undefined) {
      throw new Refusal("registration_unknown", "the registration is not the current one of the environment");
    }
    return this.#judge(this.#findProblem(entry.registration, message, streamId));
  }

  #judge(reason: string | undefined): object {
    this.#options.metrics.validations[reason === undefined ? "admitted" : "refused"].value += 1;
    return reason === undefined ? { valid: true } : { valid: false, reason };
  }

  async #add(
    { environmentId, principal, publicUrl }: RegistryRequest,
    what: { transport: Transport } & Partial<Registration>,
  ): Promise<{ url: string; id: string }> {
    const { registrations, createId, wallClock, metrics, noiseOnly, cluster } = this.#options;
    const { transport } = what;
    if (noiseOnly && transport !== "noise") {
      throw new Refusal("clear_transport", "executors have to speak Noise here; clear text is not accepted");
    }
    const { expiresAt } = principal;
    const id = createId();
    const common = { member: "", key: undefined, name: "", version: "", labels: {} };
    const registration = { ...common, ...what, id, environmentId, expiresAt, registeredAt: wallClock() };
    registrations.add(registration);
    metrics.registrations[transport].value += 1;
    await cluster.publish(registration);
    const path = transport === "direct" ? "direct" : "relay";
    const member = registration.member === "" ? undefined : registration.member;
    const ticket = this.#sign(registration, "executor", { id: createId(), member });
    return { id, url: `${publicUrl}/${path}/${environmentId}/executor?ticket=${ticket}` };
  }

  #sign(
    { id, environmentId }: Registration,
    use: TicketUse,
    rest: Omit<Ticket, "use" | "environmentId" | "registrationId">,
  ) {
    return this.#options.tickets.sign({ use, environmentId, registrationId: id, ...rest });
  }

  #findProblem(
    registration: Registration,
    message: { harness_public_key: PublicKey; harness_key_authorization: string },
    streamId: string | undefined,
  ): string | undefined {
    const ticket = this.#options.tickets.read(message.harness_key_authorization);
    if (ticket === undefined) return "ticket_invalid";
    const isForeign =
      ticket.use !== "authorization" ||
      ticket.environmentId !== registration.environmentId ||
      ticket.registrationId !== registration.id ||
      (ticket.nodeId ?? "") !== this.#options.cluster.nodeId ||
      ticket.keyHash !== hashKey(message.harness_public_key);
    if (isForeign) return "ticket_foreign";
    // A known stream belongs to a connection that was opened with a ticket, which must be of the same `connect`.
    const owner =
      streamId === undefined ? undefined : this.#options.registrations.getLink(registration)?.findTicketId(streamId);
    if (owner !== undefined && owner !== ticket.id) return "ticket_foreign";
    try {
      this.#spend(ticket);
      return undefined;
    } catch (error) {
      if (error instanceof Refusal && error.status < 500) return error.code;
      throw error;
    }
  }

  #spend({ use, id, expiresAt = 0 }: Ticket): void {
    if (expiresAt <= this.#options.wallClock())
      throw new Refusal("ticket_expired", "the ticket has expired; connect again");
    const isFirst = this.#options.usedTickets.use(`${use} ${id}`, expiresAt);
    if (isFirst === "full") throw new Refusal("too_busy", "too many tickets were used within a short time", 5);
    if (!isFirst) throw new Refusal("ticket_used", "the ticket was used before; connect again");
  }

  #rateOf(registration: Registration): Rate {
    const { limits, clock } = this.#options;
    const rate =
      this.#rates.get(registration) ?? new Rate(limits.connectBurst, limits.connectsPerSecond, () => clock.now());
    this.#rates.set(registration, rate);
    return rate;
  }
}

/** @throws Refusal `too_many_harnesses` */
export function requireRoom({ load }: ExecutorLink, max: number): void {
  if (load >= max) throw createFull(max);
}

const createFull = (max: number) =>
  new Refusal("too_many_harnesses", `the executor has the maximum of ${max} harnesses`, 5);

const createAway = (environmentId: string) =>
  new Refusal("executor_away", `no executor of ${environmentId} is connected`, 1);
