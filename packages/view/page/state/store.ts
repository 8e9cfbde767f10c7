import type { Entity } from "../../src/wire/entities.ts";

type Kind = Entity["kind"];
type OfKind<K extends Kind> = Extract<Entity, { kind: K }>;

/** The newest value of each entity. Listeners of a kind are called at most once per frame. */
export class Store {
  readonly #entities = new Map<string, Entity>();
  readonly #listeners = new Map<Kind, Set<() => void>>();
  readonly #changed = new Set<Kind>();
  #isScheduled = false;

  set(entities: readonly Entity[]): void {
    for (const entity of entities) {
      this.#entities.set(`${entity.kind} ${entity.id}`, entity);
      this.#mark(entity.kind);
    }
  }

  drop(keys: readonly string[]): void {
    for (const key of keys) {
      const entity = this.#entities.get(key);
      if (entity === undefined) continue;
      this.#entities.delete(key);
      this.#mark(entity.kind);
    }
  }

  /** Called before the server sends everything again. */
  clear(): void {
    this.drop([...this.#entities.keys()]);
  }

  get<K extends Kind>(kind: K, id: string | number): OfKind<K> | undefined {
    // Keys begin with the kind.
    return this.#entities.get(`${kind} ${id}`) as OfKind<K> | undefined;
  }

  /** All entities of a kind in order of first appearance. */
  list<K extends Kind>(kind: K): OfKind<K>[] {
    return [...this.#entities.values()].filter((entity): entity is OfKind<K> => entity.kind === kind);
  }

  watch(kind: Kind, listener: () => void): void {
    const listeners = this.#listeners.get(kind) ?? new Set();
    this.#listeners.set(kind, listeners.add(listener));
  }

  #mark(kind: Kind): void {
    this.#changed.add(kind);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // A page in the background has no animation frames.
    setTimeout(() => {
      this.#isScheduled = false;
      const kinds = [...this.#changed];
      this.#changed.clear();
      for (const each of kinds) for (const listener of this.#listeners.get(each) ?? []) listener();
    }, 16);
  }
}
