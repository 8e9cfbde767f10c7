import type { ToolCallOutcome } from "@codex/executor-protocol";
import { ToolError } from "../errors.js";
import type { ExecutorLimits } from "../limits.js";
import { sizeOfOutcome } from "../outcome-size.js";
import { ForgottenKeys } from "./forgotten-keys.js";

export type LedgerLimits = Pick<
  ExecutorLimits,
  "retainedResults" | "retainedResultBytes" | "retainedKeys" | "keyBytes" | "forgottenKeys" | "keySeries"
>;

interface Entry {
  scope: string;
  key: string;
  /** Undefined once the result was dropped to stay within the limits. */
  result: Promise<ToolCallOutcome> | undefined;
  /** Bytes of the result; undefined while the call is in progress. */
  bytes: number | undefined;
  /** Ends the wait of the call for every repeat; dropped after the wait, as it references the whole session. */
  endWait: (() => void) | undefined;
}

/** The wait of a call. */
interface CallWait {
  /** Aborts when it is ended. */
  signal: AbortSignal;
  endWait(): void;
}

/**
 * Runs calls with an idempotency key once: a repeat gets the result of the first call, also while that is in progress, or is
 * refused when the result is no longer retained.
 */
export class Ledger {
  readonly #limits: LedgerLimits;
  readonly #entries = new Map<string, Entry>();
  readonly #forgotten: ForgottenKeys;
  /** Entries with a retained result, in the order of completion. */
  readonly #completed = new Set<Entry>();
  #bytes = 0;

  constructor(limits: LedgerLimits) {
    this.#limits = limits;
    this.#forgotten = new ForgottenKeys(limits);
  }

  /** Keys with an entry; older keys are only known as digests or numbers. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Starts `run` synchronously unless the key is known in its scope. A repeat that ends its own wait ends that of the first
   * call.
   * @throws ToolError when the key is too long, its result is no longer retained, or it is unknown whether the key was used
   */
  run(
    { scope, key }: { scope: string; key: string },
    wait: CallWait,
    run: () => Promise<ToolCallOutcome>,
  ): Promise<ToolCallOutcome> {
    const size = Buffer.byteLength(key);
    if (size > this.#limits.keyBytes) {
      throw new ToolError(`the key of a call has ${size} bytes; the limit is ${this.#limits.keyBytes} bytes`);
    }
    const id = JSON.stringify([scope, key]);
    const known = this.#entries.get(id);
    if (known?.result !== undefined) return follow(known.result, wait.signal, known.endWait);
    const memory = known === undefined ? this.#forgotten.get(scope, key) : "used";
    if (memory === "new") return this.#start(id, { scope, key }, wait, run);
    if (memory === "used") throw new ToolError(REPEATED);
    const { forgottenKeys } = this.#limits;
    throw new ToolError(
      `this call was not made: it is unknown whether it was made before, as the limit of ${forgottenKeys} remembered keys is reached; use numbered keys such as SERIES#NUMBER`,
    );
  }

  /** Called when no call in this scope can be made any more: frees what is remembered of its series. */
  endScope(scope: string): void {
    this.#forgotten.endScope(scope);
  }

  #start(
    id: string,
    name: Pick<Entry, "scope" | "key">,
    { endWait }: CallWait,
    run: () => Promise<ToolCallOutcome>,
  ): Promise<ToolCallOutcome> {
    const entry: Entry = { ...name, result: undefined, bytes: undefined, endWait };
    this.#entries.set(id, entry);
    const result = run();
    entry.result = result;
    void result.then(
      (outcome) => this.#retain(entry, outcome),
      // A defect of this package: it is unknown what was done, and it is not repeated.
      () => this.#dropResult(entry),
    );
    return result;
  }

  #retain(entry: Entry, outcome: ToolCallOutcome): void {
    entry.bytes = sizeOfOutcome(outcome);
    entry.endWait = undefined;
    this.#completed.add(entry);
    this.#bytes += entry.bytes;
    this.#makeRoom();
  }

  #dropResult(entry: Entry): void {
    entry.bytes = 0;
    entry.endWait = undefined;
    entry.result = undefined;
    this.#makeRoom();
  }

  /** Visits only entries that it drops, and calls in progress: amortized constant cost per call. */
  #makeRoom(): void {
    const { retainedResults, retainedResultBytes, retainedKeys } = this.#limits;
    for (const old of this.#completed) {
      if (this.#completed.size <= retainedResults && this.#bytes <= retainedResultBytes) break;
      this.#drop(old);
    }
    if (this.#entries.size <= retainedKeys) return;
    for (const [id, old] of this.#entries) {
      if (old.bytes === undefined) continue;
      this.#drop(old);
      this.#entries.delete(id);
      this.#forgotten.add(old.scope, old.key);
      if (this.#entries.size <= retainedKeys) return;
    }
  }

  #drop(entry: Entry): void {
    if (this.#completed.delete(entry)) this.#bytes -= entry.bytes ?? 0;
    entry.result = undefined;
  }
}

const REPEATED = "this call was made before and is not made again; its result is no longer retained";

async function follow(result: Promise<ToolCallOutcome>, signal: AbortSignal, endWait: (() => void) | undefined) {
  const onAbort = () => endWait?.();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await result;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
