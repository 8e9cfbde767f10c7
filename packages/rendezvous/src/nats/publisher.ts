import type { KV, KvEntry } from "@nats-io/kv";
import { MAX_WRITES_AT_ONCE } from "../limits.js";
import { type Entry, memberKeyOf, type Registration, type Registrations } from "../registry/registrations.js";
import { decodeRecord, encodeRecord, type StoredRegistration } from "./record.js";

/** Key of a registration, unique across all nodes. */
export const keyOf = ({ environmentId, member }: Pick<Registration, "environmentId" | "member">): string =>
  `${environmentId}.${memberKeyOf(member)}`;

/** Collaborators of `Publisher`. */
export interface PublisherOptions {
  store: () => Pick<KV, "create" | "update" | "get">;
  registrations: Registrations;
  nodeId: string;
  /** Monotonic time, milliseconds. */
  now: () => number;
  /** Interval between writes of a registration whose executor is connected here, milliseconds. */
  renewMs: number;
}

/** Last known state of a stored value. */
interface Known {
  revision: number;
  /** Load that this node wrote last, and the time of that write. */
  load: number;
  writtenAt: number;
}

/** A value to be written. */
interface Due {
  registration: Registration;
  /** A new registration or connection of this node: it wins over what another node has written since. */
  isClaim: boolean;
}

/**
 * Synchronizes the registrations of this node with the stored ones of all nodes. A write replaces only a revision that this node has seen: if
 * another node has written since, a claim is written again, and anything else yields.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #known = new Map<string, Known>();
  readonly #due = new Map<string, Due>();
  readonly #writing = new Map<string, Due>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Number of keys that are not written yet. */
  get dueCount(): number {
    return this.#due.size + this.#writing.size;
  }

  /** Schedules an entry to be written. */
  add({ registration }: Entry, isClaim: boolean): void {
    const key = keyOf(registration);
    const former = this.#due.get(key);
    const isStillClaim = isClaim || (former?.isClaim === true && former.registration.id === registration.id);
    this.#due.set(key, { isClaim: isStillClaim, registration });
    this.#run();
  }

  /** Resolves when the key is written, or was yielded to another node. */
  written(key: string): Promise<void> {
    if (!this.#due.has(key) && !this.#writing.has(key)) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiting.add(resolve));
    });
  }

  /** Applies a stored value. */
  receive(entry: Pick<KvEntry, "key" | "revision" | "operation" | "string">): void {
    const known = this.#known.get(entry.key);
    if (known !== undefined && known.revision >= entry.revision) return;
    this.#known.set(entry.key, { load: 0, writtenAt: 0, ...known, revision: entry.revision });
    const stored = entry.operation === "PUT" ? decodeRecord(entry.string()) : undefined;
    if (stored === undefined || stored.writer === this.#options.nodeId) return;
    if (!this.#winsOver(stored, this.#claimOf(entry.key))) this.#learn(stored);
  }

  /** Rewrites entries that are about to expire or whose load has changed, and forgets expired ones. */
  renew(): void {
    const { registrations, now, renewMs } = this.#options;
    for (const entry of registrations.all()) {
      if (entry.link === undefined) continue;
      const key = keyOf(entry.registration);
      const known = this.#known.get(key);
      const isDue = known === undefined || now() - known.writtenAt >= renewMs || known.load !== entry.link.load;
      if (isDue && !this.#due.has(key) && !this.#writing.has(key)) this.add(entry, false);
    }
    if (this.#known.size <= 2 * registrations.size + 1000) return;
    const live = new Set(Array.from(registrations.all(), ({ registration }) => keyOf(registration)));
    for (const key of this.#known.keys()) if (!live.has(key)) this.#known.delete(key);
  }

  /** Writes all registrations with a connection here again, as the store may have lost everything. */
  writeAll(): void {
    this.#known.clear();
    for (const entry of this.#options.registrations.all()) if (entry.link !== undefined) this.add(entry, true);
  }

  #claimOf(key: string): Due | undefined {
    return [this.#due.get(key), this.#writing.get(key)].find((due) => due?.isClaim === true);
  }

  /** Whether a claim of this node wins over the value that another node has stored: unless that is a newer registration. */
  #winsOver({ registration }: StoredRegistration, claim: Due | undefined): boolean {
    if (claim === undefined) return false;
    const { id, registeredAt } = claim.registration;
    return registration.id === id || registration.registeredAt <= registeredAt;
  }

  #learn({ registration, place }: StoredRegistration): void {
    this.#options.registrations.learn(registration, place);
  }

  #run(): void {
    for (const [key, due] of this.#due) {
      if (this.#writing.size >= MAX_WRITES_AT_ONCE) return;
      // In order: changes made while a key is being written are written afterwards.
      if (this.#writing.has(key)) continue;
      this.#due.delete(key);
      this.#writing.set(key, due);
      void this.#write(key, due).finally(() => {
        this.#writing.delete(key);
        if (!this.#due.has(key)) {
          for (const resolve of this.#waiting.get(key) ?? []) resolve();
          this.#waiting.delete(key);
        }
        this.#run();
      });
    }
  }

  async #write(key: string, due: Due): Promise<void> {
    const { store, registrations, nodeId, now } = this.#options;
    const { environmentId, id } = due.registration;
    const entry = registrations.find(environmentId, id);
    // It was replaced, or another node has it and has written that.
    if (entry === undefined || entry.place !== undefined) return;
    const value = encodeRecord(entry, nodeId);
    const load = entry.link?.load ?? 0;
    const { revision } = this.#known.get(key) ?? {};
    try {
      const written =
        revision === undefined ? await store().create(key, value) : await store().update(key, value, revision);
      this.#known.set(key, { revision: written, load, writtenAt: now() });
    } catch {
      await this.#settle(key, due);
    }
  }

  /** Called after a failed write: another node has written, the value has expired, or the store is unreachable and all is written again later. */
  async #settle(key: string, due: Due): Promise<void> {
    const found = await this.#options
      .store()
      .get(key)
      .catch(() => "failed" as const);
    if (found === "failed") return;
    if (found === null) this.#known.delete(key);
    else this.#known.set(key, { revision: found.revision, load: 0, writtenAt: 0 });
    const stored = found?.operation === "PUT" ? decodeRecord(found.string()) : undefined;
    const isOwn = stored === undefined || stored.writer === this.#options.nodeId;
    if (!isOwn && !this.#winsOver(stored, due.isClaim ? due : undefined)) return this.#learn(stored);
    if (!this.#due.has(key)) this.#due.set(key, due);
  }
}
