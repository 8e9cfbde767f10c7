import { createHash } from "node:crypto";
import { sizeOfJson } from "@codex/values";
import { fail, type RefusalCode, type ToolCallResult } from "../result.js";

export interface KeyedCallsLimits {
  keyedCalls: number;
  keyedResultBytes: number;
}

/** A key, and the client that chose it. */
export interface CallKey {
  key: string;
  client: string | undefined;
}

interface KeyedCall {
  /** Digest of the tool and its arguments. */
  digest: string;
  /** Undefined once its result was dropped. */
  result: Promise<ToolCallResult> | undefined;
  /** Bytes of its result; undefined while it is in progress. */
  bytes: number | undefined;
}

/** Calls by their idempotency keys: a repeat gets the result of the first, and runs nothing. */
export class KeyedCalls {
  readonly #limits: KeyedCallsLimits;
  readonly #calls = new Map<string, KeyedCall>();
  /** Completed calls with a retained result, in the order of completion. */
  readonly #retained = new Set<KeyedCall>();
  #keptBytes = 0;

  constructor(limits: KeyedCallsLimits) {
    this.#limits = limits;
  }

  /** Never rejects, as `call` does not. */
  run(
    { key, client }: CallKey,
    name: string,
    args: unknown,
    call: () => Promise<ToolCallResult>,
  ): Promise<ToolCallResult> {
    const id = JSON.stringify([client, key]);
    const digest = digestCall(name, args);
    if (digest === undefined) return Promise.resolve(fail("invalid_arguments", `${NO_JSON}. Nothing was run.`));
    const known = this.#calls.get(id);
    if (known !== undefined && known.digest !== digest) {
      const reason = `idempotency key ${JSON.stringify(key)} belongs to a call with other arguments`;
      return Promise.resolve(fail("key_reused", `${reason}. Nothing was run.`));
    }
    if (known?.result !== undefined) return known.result;
    if (known !== undefined) {
      const reason = `the call with idempotency key ${JSON.stringify(key)} was made before, and its result is no longer retained`;
      return Promise.resolve(fail("repeated", `${reason}. Nothing was run again.`));
    }
    if (!this.#makeRoom()) {
      const { keyedCalls } = this.#limits;
      const reason = `${keyedCalls} calls with idempotency keys are in progress (limit ${keyedCalls} calls); wait for one to complete`;
      return Promise.resolve(fail("too_many_calls", `${reason}. Nothing was run.`));
    }
    const kept: KeyedCall = { digest, result: undefined, bytes: undefined };
    this.#calls.set(id, kept);
    kept.result = call().then((result) => {
      this.#keep(id, kept, result);
      return result;
    });
    return kept.result;
  }

  #keep(id: string, kept: KeyedCall, result: ToolCallResult): void {
    if (this.#calls.get(id) !== kept) return;
    if (result.isError && result.status !== "lost" && NOT_TRIED.has(result.structured.code)) {
      this.#calls.delete(id);
      return;
    }
    // Behind those that were completed before.
    this.#calls.delete(id);
    this.#calls.set(id, kept);
    kept.bytes = Buffer.byteLength(result.text) + sizeOfJson(result.structured);
    this.#keptBytes += kept.bytes;
    this.#retained.add(kept);
    for (const one of this.#retained) {
      if (this.#keptBytes <= this.#limits.keyedResultBytes) return;
      this.#drop(one);
    }
  }

  #drop(call: KeyedCall): void {
    if (!this.#retained.delete(call)) return;
    this.#keptBytes -= call.bytes ?? 0;
    call.result = undefined;
  }

  /** Forgets the calls that were completed first. False if all that are remembered are in progress, which are never forgotten. */
  #makeRoom(): boolean {
    for (const [id, call] of this.#calls) {
      if (this.#calls.size < this.#limits.keyedCalls) return true;
      if (call.bytes === undefined) continue;
      this.#drop(call);
      this.#calls.delete(id);
    }
    return this.#calls.size < this.#limits.keyedCalls;
  }
}

const NO_JSON = "the arguments of a call with an idempotency key must be JSON";

/** Refusals after which the same call may succeed: no decision was made, and nothing was sent. */
const NOT_TRIED: ReadonlySet<RefusalCode> = new Set([
  "too_many_calls",
  "executor_offline",
  "unsendable",
  "audit_failed",
  "interrupted",
  "closed",
]);

function digestCall(name: string, args: unknown): string | undefined {
  try {
    return createHash("sha256")
      .update(JSON.stringify([name, args]))
      .digest("hex");
  } catch {
    return undefined;
  }
}
