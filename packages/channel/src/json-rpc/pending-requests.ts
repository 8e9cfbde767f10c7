import { evictOldest } from "@codex/values";
import { ChannelError } from "../errors.js";
import type { RpcId } from "./rpc-id.js";

interface Pending {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** Requests of this end that wait for a response, by id. */
export class PendingRequests {
  readonly #waiting = new Map<number, Pending>();
  /** Ids of abandoned requests whose responses may still arrive; beyond the bound the oldest are evicted. */
  readonly #abandoned = new Set<number>();
  readonly #most: number;
  #nextId = 1;

  constructor(most: number) {
    this.#most = most;
  }

  /** A new id and the promise of its response, or `too_many_requests`. */
  add(): { id: number; response: Promise<unknown> } | ChannelError {
    if (this.#waiting.size >= this.#most) {
      const message = `request was not sent: ${this.#waiting.size} requests wait for a response, which is the limit`;
      return new ChannelError("too_many_requests", message);
    }
    const id = this.#nextId++;
    const response = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    return { id, response };
  }

  /** Returns false for a response without a request. A response to an abandoned request is dropped. */
  resolve(id: RpcId, result: unknown): boolean {
    const pending = this.#take(id);
    pending?.resolve(result);
    return pending !== undefined || this.#forget(id);
  }

  reject(id: RpcId, error: Error): boolean {
    const pending = this.#take(id);
    pending?.reject(error);
    return pending !== undefined || this.#forget(id);
  }

  /** The caller no longer waits for the response, which may still arrive. */
  abandon(id: number, reason: unknown): void {
    const pending = this.#take(id);
    if (pending === undefined) return;
    pending.reject(reason);
    this.#abandoned.add(id);
    evictOldest(this.#abandoned, this.#most);
  }

  rejectAll(error: Error): void {
    for (const pending of this.#waiting.values()) pending.reject(error);
    this.#waiting.clear();
  }

  #take(id: RpcId): Pending | undefined {
    if (typeof id !== "number") return undefined;
    const pending = this.#waiting.get(id);
    if (pending !== undefined) this.#waiting.delete(id);
    return pending;
  }

  #forget(id: RpcId): boolean {
    return typeof id === "number" && this.#abandoned.delete(id);
  }
}
