import { MAX_ENTITIES, PUBLISH_MS } from "../limits.js";
import { type Entity, isLive, keyOf } from "../wire/entities.js";

/** Receives changes of a board. */
export interface Publisher {
  set(entities: readonly Entity[]): void;
  drop(keys: readonly string[]): void;
}

/**
 * Everything that is shown, bounded: beyond the limit of its kind, the oldest that has ended is removed. What is live is bounded by the
 * orchestrator. Changes are published together, after `PUBLISH_MS`.
 */
export class Board {
  readonly #publisher: Publisher;
  readonly #entities = new Map<string, Entity>();
  readonly #counts = new Map<Entity["kind"], number>();
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
  }

  get(key: string): Entity | undefined {
    return this.#entities.get(key);
  }

  set(entity: Entity): void {
    const key = keyOf(entity);
    if (!this.#entities.has(key)) this.#makeRoom(entity.kind);
    this.#entities.set(key, entity);
    this.#publishSoon(key);
  }

  drop(key: string): void {
    const entity = this.#entities.get(key);
    if (entity === undefined) return;
    this.#entities.delete(key);
    this.#counts.set(entity.kind, (this.#counts.get(entity.kind) ?? 1) - 1);
    this.#publishSoon(key);
  }

  /** All entities, for a restarted server. */
  publishAll(): void {
    this.#changed.clear();
    this.#publisher.set([...this.#entities.values()]);
  }

  /** Publishes pending changes. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const set: Entity[] = [];
    const dropped: string[] = [];
    for (const key of this.#changed) {
      const entity = this.#entities.get(key);
      if (entity === undefined) dropped.push(key);
      else set.push(entity);
    }
    this.#changed.clear();
    if (set.length > 0) this.#publisher.set(set);
    if (dropped.length > 0) this.#publisher.drop(dropped);
  }

  #makeRoom(kind: Entity["kind"]): void {
    const count = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, count + 1);
    if (count < MAX_ENTITIES[kind]) return;
    for (const [key, entity] of this.#entities) {
      if (entity.kind === kind && !isLive(entity)) return this.drop(key);
    }
  }

  #publishSoon(key: string): void {
    this.#changed.add(key);
    this.#timer ??= setTimeout(() => this.flush(), PUBLISH_MS).unref();
  }
}
