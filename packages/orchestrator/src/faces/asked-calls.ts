import { randomUUID } from "node:crypto";
import { evictOldest } from "@codex/values";
import type { Grant } from "../approvals/approver.js";
import { REMEMBERED_QUESTIONS } from "../limits.js";

interface AskedCall {
  digest: string;
  /** Idempotency key of the call, which therefore runs once. */
  key: string;
}

/**
 * The calls for which an agent stack requests approval from its user before it makes them, by the ids of the stack. An approval
 * is valid for exactly this call, once. The oldest of 1,000 is forgotten, and its approval is then invalid.
 */
export class AskedCalls {
  readonly #calls = new Map<string, AskedCall>();
  readonly #newKey: () => string;

  /** @param newKey creates unique idempotency keys; default random UUIDs */
  constructor(newKey: () => string = randomUUID) {
    this.#newKey = newKey;
  }

  /** @param digest of the `ask` that `judge` returned. A call that is asked about again under the same id replaces the first. */
  add(id: string, digest: string): void {
    this.#calls.delete(id);
    this.#calls.set(id, { digest, key: this.#newKey() });
    evictOldest(this.#calls, REMEMBERED_QUESTIONS);
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  /** The options of a call that was approved; undefined for one that was not asked about. */
  grant(id: string): { grant: Grant; idempotencyKey: string } | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    const { digest, key } = call;
    return { grant: { digest, decision: "accept", by: "client" }, idempotencyKey: key };
  }
}
