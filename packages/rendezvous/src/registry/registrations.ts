import { createHash } from "node:crypto";
import type { Clock } from "@codex/clock";
import type { Transport } from "../metrics.js";
import { Refusal } from "../refusal.js";
import type { Labels } from "./messages.js";
import type { PublicKey } from "./public-key.js";

/** Why the rendezvous closes the connection of an executor or harness. */
export type CloseCause = "replaced" | "executor_gone" | "expired";

/** The connection of an executor. */
export interface ExecutorLink {
  /** Harnesses that it serves. */
  readonly load: number;
  /** Id of the tickets with which the harness of a stream connected; undefined for an unknown stream. */
  findTicketId(streamId: string): string | undefined;
  close(cause: CloseCause): void;
}

/** What an executor registered. */
export interface Registration {
  readonly id: string;
  readonly environmentId: string;
  /** Identifies the executor within its environment: a newer registration of the same member replaces it. Empty for the only one. */
  readonly member: string;
  readonly transport: Transport;
  /** Public key for Noise; undefined for other transports. */
  readonly key: PublicKey | undefined;
  /** When the credential that it was made with expires, milliseconds since 1970. */
  readonly expiresAt: number | undefined;
  /** Milliseconds since 1970. */
  readonly registeredAt: number;
  /** For display; empty if the executor sent none. */
  readonly name: string;
  readonly version: string;
  readonly labels: Labels;
}

/** Another node, to which an executor is connected. */
export interface Place {
  readonly nodeId: string;
  /** Harnesses that the executor served when this was last published. */
  readonly load: number;
  /** When it connected there, milliseconds since 1970. */
  readonly since: number;
}

/** A registration and where its executor is connected, if it is: here (`link`) or at another node (`place`). */
export interface Entry {
  readonly registration: Registration;
  readonly link: ExecutorLink | undefined;
  readonly place: Place | undefined;
  /** When `link` was attached, milliseconds since 1970. */
  readonly since: number | undefined;
  /** When the connection was lost, by the monotonic clock; undefined if there is one, or never was. */
  readonly lostAt: number | undefined;
}

/** Receives changes at this node, so that they can be published to other nodes. */
export interface RegistrationsObserver {
  /** A registration was added, or its executor connected here. This takes precedence over the state of other nodes. */
  onClaimed(entry: Entry): void;
  /** The connection was lost. */
  onReleased(entry: Entry): void;
}

/** Collaborators of `Registrations`. */
export interface RegistrationsOptions {
  clock: Pick<Clock, "now" | "after">;
  /** Milliseconds since 1970. */
  wallClock: () => number;
  /** How long a registration without a connection is kept, milliseconds. */
  leaseMs: number;
  max: number;
  onReplaced: (registration: Registration) => void;
  /** Whether leases expire: not while it is unknown whether another node renews them. Default true. */
  mayExpire?: () => boolean;
}

interface MutableEntry extends Entry {
  registration: Registration;
  link: ExecutorLink | undefined;
  place: Place | undefined;
  since: number | undefined;
  lostAt: number | undefined;
  cancelLease: () => void;
}

/** The executors of all environments. A member of an environment has one executor: the one that registered last. */
export class Registrations {
  /** Set once, by the component that shares the registrations with other nodes. */
  observer: RegistrationsObserver | undefined;
  readonly #options: RegistrationsOptions;
  readonly #environments = new Map<string, Map<string, MutableEntry>>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #size = 0;
  #isClosed = false;

  constructor(options: RegistrationsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** All entries. */
  *all(): Generator<Entry> {
    for (const members of this.#environments.values()) yield* members.values();
  }

  /** The executors of an environment. */
  list(environmentId: string): readonly Entry[] {
    return [...(this.#environments.get(environmentId)?.values() ?? [])];
  }

  /**
   * Replaces the registration of the member, and closes its connection. One with Noise also replaces those in clear text.
   * @throws Refusal `too_busy` at the limit; `registration_conflict` for clear text while an executor with Noise is connected
   */
  add(registration: Registration): void {
    const { environmentId, member, transport } = registration;
    const others = this.list(environmentId);
    if (
      transport !== "noise" &&
      others.some((other) => other.registration.transport === "noise" && isConnected(other))
    ) {
      throw new Refusal(
        "registration_conflict",
        "an executor with Noise serves this environment; clear text cannot replace it",
      );
    }
    const { max } = this.#options;
    if (this.#find(environmentId, member) === undefined && this.#size >= max) {
      throw new Refusal("too_busy", `the limit of ${max} registrations is reached`, 30);
    }
    for (const other of others) {
      const isClear = transport === "noise" && other.registration.transport !== "noise";
      if (isClear && other.registration.member !== member) this.#remove(this.#entryOf(other.registration));
    }
    const entry = this.#put(registration);
    this.observer?.onClaimed(entry);
  }

  /**
   * The registration to which harnesses are sent by default: of an executor that is connected here, else elsewhere,
   * else of one that is not connected.
   */
  get(environmentId: string): Registration | undefined {
    const entries = this.list(environmentId);
    const entry = entries.find(({ link }) => link !== undefined) ?? entries.find(isConnected) ?? entries[0];
    return entry?.registration;
  }

  /** The entry of a registration that was not replaced. */
  find(environmentId: string, id: string): Entry | undefined {
    return this.list(environmentId).find(({ registration }) => registration.id === id);
  }

  /** The connection of a registration, if it has one here and was not replaced. */
  getLink({ environmentId, id }: Pick<Registration, "environmentId" | "id">): ExecutorLink | undefined {
    return this.find(environmentId, id)?.link;
  }

  /** Connects an executor; a former connection of the registration is closed: it may be half-open. */
  attach(registration: Registration, link: ExecutorLink): void {
    const entry = this.#entryOf(registration);
    if (entry === undefined) return link.close("replaced");
    entry.cancelLease();
    const old = entry.link;
    entry.link = link;
    entry.place = undefined;
    entry.since = this.#options.wallClock();
    entry.lostAt = undefined;
    old?.close("replaced");
    this.observer?.onClaimed(entry);
    this.#wake(registration.environmentId);
  }

  /** Disconnects an executor; its lease begins. Does nothing if the registration or its connection has been replaced. */
  detach(registration: Registration, link: ExecutorLink): void {
    const entry = this.#entryOf(registration);
    if (entry === undefined || entry.link !== link) return;
    this.#lose(entry);
    this.#startLease(entry);
    this.observer?.onReleased(entry);
  }

  /** Applies what another node has published: the registration of a member, and where its executor is connected. */
  learn(registration: Registration, place: Place | undefined): void {
    const known = this.#find(registration.environmentId, registration.member);
    // Other nodes have the same limit: what exceeds it here also exceeds it there.
    if (known === undefined && this.#size >= this.#options.max) return;
    const entry = known?.registration.id === registration.id ? known : this.#put(registration);
    const old = entry.link;
    if (old !== undefined) {
      this.#lose(entry);
      old.close("replaced");
    }
    if (place === undefined && entry.place !== undefined) this.#lose(entry);
    entry.place = place;
    if (place !== undefined) entry.lostAt = undefined;
    this.#startLease(entry);
    if (place !== undefined) this.#wake(registration.environmentId);
  }

  /**
   * Removes a place, because its node does not respond, or does not have the connection. Does nothing if another place has become known.
   * @param retryMs milliseconds after which the node may be asked again, as it may only be slow; undefined if the connection is gone
   */
  forget(registration: Registration, place: Place, retryMs?: number): void {
    const entry = this.#entryOf(registration);
    if (entry === undefined || entry.place !== place) return;
    this.#lose(entry);
    if (retryMs === undefined || this.#isClosed) return;
    this.#options.clock.after(retryMs, () => {
      const isStillLost = this.#entryOf(registration) === entry && !isConnected(entry);
      if (isStillLost) this.learn(registration, place);
    });
  }

  /** Calls `run` whenever an executor of the environment has connected. Returns a function that stops it. */
  onAttach(environmentId: string, run: () => void): () => void {
    const waiting = this.#waiting.get(environmentId) ?? new Set();
    this.#waiting.set(environmentId, waiting.add(run));
    return () => {
      waiting.delete(run);
      if (waiting.size === 0 && this.#waiting.get(environmentId) === waiting) this.#waiting.delete(environmentId);
    };
  }

  /** Number of requests that wait for an executor of the environment. */
  countWaiting(environmentId: string): number {
    return this.#waiting.get(environmentId)?.size ?? 0;
  }

  /** Cancels all leases, and refuses waiting requests. */
  close(): void {
    this.#isClosed = true;
    for (const members of this.#environments.values()) for (const { cancelLease } of members.values()) cancelLease();
    for (const waiting of this.#waiting.values()) for (const resume of [...waiting]) resume();
  }

  /** @throws Refusal `draining` once it is closed */
  requireOpen(): void {
    if (this.#isClosed) throw new Refusal("draining", "the rendezvous is shutting down", 1);
  }

  #put(registration: Registration): MutableEntry {
    const { environmentId, member } = registration;
    const members = this.#environments.get(environmentId) ?? new Map<string, MutableEntry>();
    this.#environments.set(environmentId, members);
    const old = members.get(member);
    const entry: MutableEntry = {
      registration,
      link: undefined,
      place: undefined,
      since: undefined,
      lostAt: undefined,
      cancelLease: () => {},
    };
    members.set(member, entry);
    this.#startLease(entry);
    if (old === undefined) {
      this.#size += 1;
      return entry;
    }
    old.cancelLease();
    this.#options.onReplaced(old.registration);
    old.link?.close("replaced");
    return entry;
  }

  #find(environmentId: string, member: string): MutableEntry | undefined {
    return this.#environments.get(environmentId)?.get(member);
  }

  #entryOf({ environmentId, member, id }: Registration): MutableEntry | undefined {
    const entry = this.#find(environmentId, member);
    return entry?.registration.id === id ? entry : undefined;
  }

  #lose(entry: MutableEntry): void {
    entry.link = undefined;
    entry.place = undefined;
    entry.since = undefined;
    entry.lostAt = this.#options.clock.now();
  }

  #remove(entry: MutableEntry | undefined): void {
    if (entry === undefined) return;
    const { environmentId, member } = entry.registration;
    const members = this.#environments.get(environmentId);
    entry.cancelLease();
    if (members?.delete(member) === true) this.#size -= 1;
    if (members?.size === 0) this.#environments.delete(environmentId);
    entry.link?.close("replaced");
  }

  #startLease(entry: MutableEntry): void {
    entry.cancelLease();
    if (this.#isClosed) return;
    const { clock, leaseMs, mayExpire = () => true } = this.#options;
    entry.cancelLease = clock.after(leaseMs, () => {
      if (this.#entryOf(entry.registration) !== entry || entry.link !== undefined) return;
      if (mayExpire()) this.#remove(entry);
      else this.#startLease(entry);
    });
  }

  #wake(environmentId: string): void {
    for (const resume of [...(this.#waiting.get(environmentId) ?? [])]) resume();
  }
}

/** Whether an executor is connected, here or at another node. */
export const isConnected = ({ link, place }: Entry): boolean => link !== undefined || place !== undefined;

/** Harnesses of an executor, as far as is known. */
export const loadOf = ({ link, place }: Entry): number => link?.load ?? place?.load ?? 0;

/** A member as part of a key, in letters, digits, `-` and `_`. */
export const memberKeyOf = (member: string): string =>
  member === "" ? "_" : createHash("sha256").update(member).digest("base64url").slice(0, 22);
