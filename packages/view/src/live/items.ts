import { evictOldest } from "@codex/values";
import { MAX_ENTITIES, PUBLISH_OUTPUT_MS } from "../limits.js";
import type { ItemContent, ItemEntity } from "../wire/entities.js";
import type { Board } from "./board.js";

/** The items of the conversation in order of first appearance. */
export class Items {
  readonly #board: Board;
  readonly #orders = new Map<string, number>();
  readonly #lazy = new Map<string, () => ItemContent | undefined>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(board: Board) {
    this.#board = board;
  }

  get(id: string): ItemContent | undefined {
    const entity = this.#board.get(`item ${id}`);
    return entity?.kind === "item" ? entity.content : undefined;
  }

  set(id: string, content: ItemContent): void {
    const known = this.#orders.get(id);
    const order = known ?? this.#count;
    if (known === undefined) {
      this.#count += 1;
      this.#orders.set(id, order);
    }
    this.#board.set({ kind: "item", id, order, content } satisfies ItemEntity);
    if (known === undefined) this.#forgetOrders();
  }

  /** Of items that are not shown any more: what is live stays, however old it is, and keeps its place. */
  #forgetOrders(): void {
    evictOldest(this.#orders, MAX_ENTITIES.item, (id) => this.#board.get(`item ${id}`) !== undefined);
  }

  /** Removes an item; one with this id that is set later is a new one. */
  drop(id: string): void {
    this.#lazy.delete(id);
    this.#orders.delete(id);
    this.#board.drop(`item ${id}`);
  }

  /** Sets a function that computes the content when it is published, instead of on every change. */
  setLazily(id: string, compute: () => ItemContent | undefined): void {
    this.#lazy.set(id, compute);
    this.#timer ??= setTimeout(() => this.settle(), PUBLISH_OUTPUT_MS).unref();
  }

  /** Computes deferred content. */
  settle(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lazy = [...this.#lazy];
    this.#lazy.clear();
    for (const [id, compute] of lazy) {
      const content = compute();
      if (content !== undefined) this.set(id, content);
    }
  }
}
