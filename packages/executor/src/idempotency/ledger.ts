import type { ToolCallOutcome } from "@codex/executor-protocol";
import { ToolError } from "../errors.js";
import type { ExecutorLimits } from "../limits.js";
import { ForgottenKeys } from "./forgotten-keys.js";

export type LedgerLimits = Pick<
  ExecutorLimits,
  "keptAnswers" | "keptAnswerBytes" | "keptKeys" | "keyBytes" | "forgottenKeys" | "keySeries"
>;

interface Entry {
  scope: string;
  key: string;
  /** Undefined once the answer was dropped to stay within bounds. */
  answer: Promise<ToolCallOutcome> | undefined;
  /** Bytes of the answer; undefined while the call is under way. */
  bytes: number | undefined;
  /** Ends the wait of the call for every repeat; dropped with the wait, as it references the whole session. */
  wait: AbortController | undefined;
}

/**
 * Calls with a key run once: a repeat gets the first answer, also while that is still being made, or is refused where
 * the answer is not kept any longer.
 */
export class Ledger {
  readonly #limits: LedgerLimits;
  readonly #entries = new Map<string, Entry>();
  readonly #forgotten: ForgottenKeys;
  /** Those whose answer is kept, in the order in which they were answered. */
  readonly #answered = new Set<Entry>();
  #bytes = 0;

  constructor(limits: LedgerLimits) {
    this.#limits = limits;
    this.#forgotten = new ForgottenKeys(limits);
  }

  /** Keys that are kept one by one; those beyond them are known by less. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Starts `run` within this call unless the key is known in its scope. `signal` ends the wait of the first call and of
   * its repeats.
   * @throws ToolError when the key is too long, its answer is not kept any longer, or that is not known.
   */
  run(
    { scope, key }: { scope: string; key: string },
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<ToolCallOutcome>,
  ): Promise<ToolCallOutcome> {
    const size = Buffer.byteLength(key);
    if (size > this.#limits.keyBytes) {
      throw new ToolError(`the key of a call has ${size} bytes; the limit is ${this.#limits.keyBytes} bytes`);
    }
    const id = `${scope} ${key}`;
    const known = this.#entries.get(id);
    if (known?.answer !== undefined) return follow(known.answer, signal, known.wait);
    const memory = known === undefined ? this.#forgotten.get(scope, key) : "used";
    if (memory === "new") return this.#start(id, { scope, key }, signal, run);
    if (memory === "used") throw new ToolError(REPEATED);
    const { forgottenKeys } = this.#limits;
    throw new ToolError(
      `this call was not made: whether it was made before cannot be told, as ${forgottenKeys} keys are remembered, which is the limit; number keys as SERIES#NUMBER`,
    );
  }

  #start(
    id: string,
    name: Pick<Entry, "scope" | "key">,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<ToolCallOutcome>,
  ) {
    const wait = new AbortController();
    const entry: Entry = { ...name, answer: undefined, bytes: undefined, wait };
    this.#entries.set(id, entry);
    const answer = run(wait.signal);
    entry.answer = answer;
    void answer.then(
      (outcome) => this.#keep(entry, outcome),
      // A defect of this package: what was done is not known, and it is not done again.
      () => this.#forgetAnswer(entry),
    );
    return follow(answer, signal, wait);
  }

  #keep(entry: Entry, outcome: ToolCallOutcome): void {
    entry.bytes = getSize(outcome);
    entry.wait = undefined;
    this.#answered.add(entry);
    this.#bytes += entry.bytes;
    this.#makeRoom();
  }

  #forgetAnswer(entry: Entry): void {
    entry.bytes = 0;
    entry.wait = undefined;
    entry.answer = undefined;
    this.#makeRoom();
  }

  /** Every entry it visits is dropped, except calls under way: amortized constant cost per call. */
  #makeRoom(): void {
    const { keptAnswers, keptAnswerBytes, keptKeys } = this.#limits;
    for (const old of this.#answered) {
      if (this.#answered.size <= keptAnswers && this.#bytes <= keptAnswerBytes) break;
      this.#drop(old);
    }
    if (this.#entries.size <= keptKeys) return;
    for (const [id, old] of this.#entries) {
      if (old.bytes === undefined) continue;
      this.#drop(old);
      this.#entries.delete(id);
      this.#forgotten.add(old.scope, old.key);
      if (this.#entries.size <= keptKeys) return;
    }
  }

  #drop(entry: Entry): void {
    if (this.#answered.delete(entry)) this.#bytes -= entry.bytes ?? 0;
    entry.answer = undefined;
  }
}

const REPEATED = "this call was made before and is not made again; its answer is not kept any longer";

async function follow(answer: Promise<ToolCallOutcome>, signal: AbortSignal, wait: AbortController | undefined) {
  const onAbort = () => wait?.abort();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await answer;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function getSize(outcome: ToolCallOutcome): number {
  if (outcome.status === "error") return Buffer.byteLength(outcome.message);
  return outcome.content.reduce((sum, item) => sum + Buffer.byteLength(item.text), 0);
}
