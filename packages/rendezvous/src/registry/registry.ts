import type { Clock } from "@codex/clock";
import type { Principal } from "../auth/principal.js";
import type { RendezvousLimits } from "../limits.js";
import type { RendezvousMetrics, Transport } from "../metrics.js";
import { Refusal } from "../refusal.js";
import type { Ticket, TicketOffice, TicketUse } from "../tickets/ticket.js";
import type { UsedTickets } from "../tickets/used-tickets.js";
import {
  connectSchema,
  DIRECT_TRANSPORT,
  directRegisterSchema,
  parseBody,
  registerSchema,
  requireDirect,
  requireProfile,
  validateSchema,
} from "./messages.js";
import { hashKey, type PublicKey, SECURITY_PROFILE } from "./public-key.js";
import { Rate } from "./rate.js";
import type { ExecutorLink, Registration, Registrations } from "./registrations.js";

/** Collaborators of `Registry`. */
export interface RegistryOptions {
  registrations: Registrations;
  tickets: TicketOffice;
  usedTickets: UsedTickets;
  limits: RendezvousLimits;
  metrics: RendezvousMetrics;
  clock: Pick<Clock, "now">;
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
  /** `ws://HOST:PORT` or `wss://HOST:PORT` under which the asking side reaches the rendezvous; a path may follow. */
  publicUrl: string;
}

/** Registers executors, sends harnesses to them, and confirms harnesses to executors. Each method returns the JSON of its answer. */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #rates = new WeakMap<Registration, Rate>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** With Noise; an empty body registers an executor that speaks clear relay frames. @throws Refusal */
  register(request: RegistryRequest): object {
    const { environmentId, body } = request;
    if (body === "") {
      const { url } = this.#add(request, "legacy", undefined);
      return { environment_id: environmentId, url };
    }
    const { security_profile, executor_public_key } = parseBody(registerSchema, body);
    requireProfile(security_profile);
    const { url, id } = this.#add(request, "noise", executor_public_key);
    return {
      environment_id: environmentId,
      url,
      security_profile,
      executor_registration_id: id,
      lease_ms: this.#options.limits.leaseMs,
    };
  }

  /** @throws Refusal */
  registerDirect(request: RegistryRequest): object {
    requireDirect(parseBody(directRegisterSchema, request.body).transport);
    const { url, id } = this.#add(request, "direct", undefined);
    return { environment_id: request.environmentId, transport: DIRECT_TRANSPORT, registration_id: id, url };
  }

  /** @throws Refusal `executor_away` also where the environment was never seen: its executor may be about to register */
  connect({ environmentId, body, principal, publicUrl }: RegistryRequest): object {
    const { registrations, limits, metrics, createId, wallClock } = this.#options;
    const { harness_public_key } = parseBody(connectSchema, body);
    const registration = registrations.get(environmentId);
    const link = registration === undefined ? undefined : registrations.getLink(registration);
    if (registration === undefined || link === undefined) {
      throw new Refusal("executor_away", `no executor of ${environmentId} is connected`, 1);
    }
    if (registration.key === undefined) {
      throw new Refusal("clear_transport", `the executor of ${environmentId} does not speak Noise`);
    }
    requireRoom(link, limits.maxHarnesses);
    if (!this.#rateOf(registration).take()) {
      throw new Refusal("too_many_connects", `too many connects to ${environmentId}`, 1);
    }
    const expiresAt = Math.min(wallClock() + limits.ticketMs, principal.expiresAt ?? Number.POSITIVE_INFINITY);
    const ticket = { id: createId(), keyHash: hashKey(harness_public_key), expiresAt };
    metrics.connects.value += 1;
    return {
      environment_id: environmentId,
      url: `${publicUrl}/relay/${environmentId}/harness?ticket=${this.#sign(registration, "harness", ticket)}`,
      security_profile: SECURITY_PROFILE,
      executor_registration_id: registration.id,
      executor_public_key: registration.key,
      harness_key_authorization: this.#sign(registration, "authorization", ticket),
      expires_at: Math.floor(expiresAt / 1000),
    };
  }

  /**
   * Whether the harness may be admitted; each authorization once.
   * @param streamId on which it came, where the executor says so
   * @throws Refusal for a request that is not the current executor's
   */
  validate({ environmentId, body }: RegistryRequest, streamId: string | undefined): object {
    const { metrics, registrations } = this.#options;
    const message = parseBody(validateSchema, body);
    const registration = registrations.get(environmentId);
    if (registration?.id !== message.executor_registration_id) {
      throw new Refusal("registration_unknown", "the registration is not the current one of the environment");
    }
    const reason = this.#findProblem(registration, message, streamId);
    metrics.validations[reason === undefined ? "admitted" : "refused"].value += 1;
    return reason === undefined ? { valid: true } : { valid: false, reason };
  }

  /**
   * The registration whose executor connects with a ticket.
   * @throws Refusal `registration_unknown` for all that is wrong with it: what makes Codex register again
   */
  admitExecutor(environmentId: string, text: string): Registration {
    const ticket = this.#options.tickets.read(text);
    const registration = this.#options.registrations.get(environmentId);
    const isCurrent =
      ticket?.use === "executor" &&
      ticket.environmentId === environmentId &&
      registration?.id === ticket.registrationId &&
      (registration.expiresAt === undefined || registration.expiresAt > this.#options.wallClock());
    if (isCurrent) return registration;
    throw new Refusal("registration_unknown", "the registration is not known or was replaced; register again");
  }

  /** The registration to which a harness connects with a ticket, which is used up. @throws Refusal */
  admitHarness(environmentId: string, text: string): { registration: Registration; ticketId: string } {
    const { tickets, registrations, limits } = this.#options;
    const ticket = tickets.read(text);
    if (ticket === undefined) throw new Refusal("ticket_invalid", "the ticket is not valid; connect again");
    if (ticket.use !== "harness" || ticket.environmentId !== environmentId) {
      throw new Refusal("ticket_foreign", "the ticket is for something else");
    }
    const registration = registrations.get(environmentId);
    if (registration?.id !== ticket.registrationId) {
      throw new Refusal("executor_away", "the executor of the ticket was replaced; connect again", 1);
    }
    const link = registrations.getLink(registration);
    if (link === undefined) throw new Refusal("executor_away", `the executor of ${environmentId} is not connected`, 1);
    requireRoom(link, limits.maxHarnesses);
    this.#spend(ticket);
    return { registration, ticketId: ticket.id };
  }

  #add(request: RegistryRequest, transport: Transport, key: PublicKey | undefined): { url: string; id: string } {
    const { environmentId, principal, publicUrl } = request;
    const { registrations, createId, wallClock, metrics, noiseOnly } = this.#options;
    if (noiseOnly && transport !== "noise") {
      throw new Refusal("clear_transport", "executors have to speak Noise here; clear text is not accepted");
    }
    const { expiresAt } = principal;
    const id = createId();
    const registration = { id, environmentId, transport, key, expiresAt, registeredAt: wallClock() };
    registrations.add(registration);
    metrics.registrations[transport].value += 1;
    const path = transport === "direct" ? "direct" : "relay";
    const ticket = this.#sign(registration, "executor", { id: createId() });
    return { id, url: `${publicUrl}/${path}/${environmentId}/executor?ticket=${ticket}` };
  }

  #sign({ id, environmentId }: Registration, use: TicketUse, rest: Pick<Ticket, "id" | "keyHash" | "expiresAt">) {
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
      ticket.keyHash !== hashKey(message.harness_public_key);
    if (isForeign) return "ticket_foreign";
    // A stream that is known came from a connection that was opened with a ticket: it has to be of the same connect.
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
  if (load >= max) throw new Refusal("too_many_harnesses", `the executor has its most harnesses, ${max}`, 5);
}
