import type { Clock } from "@codex/clock";
import type { Transport } from "../metrics.js";
import { Refusal } from "../refusal.js";
import type { PublicKey } from "./public-key.js";

/** Why the rendezvous closes the connection of an executor or harness. */
export type CloseCause = "replaced" | "executor_gone" | "expired";

/** The connection of an executor. */
export interface ExecutorLink {
  /** Harnesses that it serves. */
  readonly load: number;
  /** Id of the tickets with which the harness of a stream came; undefined for a stream that is not known. */
  findTicketId(streamId: string): string | undefined;
  close(cause: CloseCause): void;
}

/** What an executor registered. */
export interface Registration {
  readonly id: string;
  readonly environmentId: string;
  readonly transport: Transport;
  /** Of Noise. */
  readonly key: PublicKey | undefined;
  /** Milliseconds since 1970 after which the credential that it was made with is worth nothing. */
  readonly expiresAt: number | undefined;
  /** Milliseconds since 1970. */
  readonly registeredAt: number;
}

/** Collaborators of `Registrations`. */
export interface RegistrationsOptions {
  clock: Pick<Clock, "after">;
  /** How long a registration without a connection is kept, milliseconds. */
  leaseMs: number;
  max: number;
  onReplaced: (registration: Registration) => void;
}

interface Entry {
  registration: Registration;
  link: ExecutorLink | undefined;
  cancelLease: () => void;
}

/** The executors of all environments. One environment has one executor: the one that registered last. */
export class Registrations {
  readonly #options: RegistrationsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #isClosed = false;

  constructor(options: RegistrationsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Replaces the registration of the environment, and closes its connection.
   * @throws Refusal `too_busy` at the limit; `registration_conflict` for clear text while an executor with Noise is connected
   */
  add(registration: Registration): void {
    const { environmentId, transport } = registration;
    const old = this.#entries.get(environmentId);
    if (old?.registration.transport === "noise" && old.link !== undefined && transport !== "noise") {
      throw new Refusal(
        "registration_conflict",
        "an executor with Noise serves this environment; clear text cannot replace it",
      );
    }
    const { max } = this.#options;
    if (old === undefined && this.#entries.size >= max) {
      throw new Refusal("too_busy", `the limit of ${max} registrations is reached`, 30);
    }
    const entry: Entry = { registration, link: undefined, cancelLease: () => {} };
    this.#entries.set(environmentId, entry);
    this.#startLease(entry);
    if (old === undefined) return;
    old.cancelLease();
    this.#options.onReplaced(old.registration);
    old.link?.close("replaced");
  }

  /** The registration that harnesses of the environment are sent to. */
  get(environmentId: string): Registration | undefined {
    return this.#entries.get(environmentId)?.registration;
  }

  /** The connection of a registration, if it has one and was not replaced. */
  getLink({ environmentId, id }: Pick<Registration, "environmentId" | "id">): ExecutorLink | undefined {
    const entry = this.#entries.get(environmentId);
    return entry?.registration.id === id ? entry.link : undefined;
  }

  /** Connects an executor; a former connection of the registration is closed: it may be dead without anybody knowing. */
  attach(registration: Registration, link: ExecutorLink): void {
    const entry = this.#entries.get(registration.environmentId);
    if (entry?.registration !== registration) return link.close("replaced");
    entry.cancelLease();
    const old = entry.link;
    entry.link = link;
    old?.close("replaced");
    for (const resume of [...(this.#waiting.get(registration.environmentId) ?? [])]) resume();
  }

  /** Its lease begins. Nothing happens where the registration or its connection is another by now. */
  detach(registration: Registration, link: ExecutorLink): void {
    const entry = this.#entries.get(registration.environmentId);
    if (entry?.registration !== registration || entry.link !== link) return;
    entry.link = undefined;
    this.#startLease(entry);
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

  /** How many wait for an executor of the environment. */
  countWaiting(environmentId: string): number {
    return this.#waiting.get(environmentId)?.size ?? 0;
  }

  /** Stops all leases, and refuses those that wait. */
  close(): void {
    this.#isClosed = true;
    for (const { cancelLease } of this.#entries.values()) cancelLease();
    for (const waiting of this.#waiting.values()) for (const resume of [...waiting]) resume();
  }

  /** @throws Refusal `draining` once it is closed */
  requireOpen(): void {
    if (this.#isClosed) throw new Refusal("draining", "the rendezvous is shutting down", 1);
  }

  #startLease(entry: Entry): void {
    if (this.#isClosed) return;
    entry.cancelLease = this.#options.clock.after(this.#options.leaseMs, () => {
      const { environmentId } = entry.registration;
      if (this.#entries.get(environmentId) === entry && entry.link === undefined) this.#entries.delete(environmentId);
    });
  }
}
