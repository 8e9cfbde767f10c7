import type { ToolCallOutcome } from "@codex/executor-protocol";
import { ToolError } from "./errors.js";
import type { ExecutorLimits } from "./limits.js";

export type LedgerLimits = Pick<ExecutorLimits, "keptAnswers" | "keptAnswerBytes" | "keptKeys" | "keyBytes">;

interface Entry {
  /** Undefined once the answer was dropped to stay within bounds. */
  answer: Promise<ToolCallOutcome> | undefined;
  /** Bytes of the answer; undefined while the call is under way. */
  bytes: number | undefined;
  /** Ends the wait of the call for all who wait for its answer. */
  wait: AbortController;
}

/** Calls with a key run once: a repeat gets the first answer, also while that is still being made. */
export class Ledger {
  readonly #limits: LedgerLimits;
  readonly #entries = new Map<string, Entry>();
  #answers = 0;
  #bytes = 0;

  constructor(limits: LedgerLimits) {
    this.#limits = limits;
  }

  /**
   * Starts `run` within this call unless the key is known in its scope. `signal` ends the wait of the first call and of
   * its repeats.
   * @throws ToolError when the key is too long, or its answer is not kept any longer.
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
    const known = this.#entries.get(`${scope} ${key}`);
    if (known === undefined) return this.#start(`${scope} ${key}`, signal, run);
    if (known.answer === undefined) {
      throw new ToolError("this call was made before and is not made again; its answer is not kept any longer");
    }
    return follow(known.answer, signal, known.wait);
  }

  #start(key: string, signal: AbortSignal, run: (signal: AbortSignal) => Promise<ToolCallOutcome>) {
    const wait = new AbortController();
    const entry: Entry = { answer: undefined, bytes: undefined, wait };
    this.#entries.set(key, entry);
    const answer = run(wait.signal);
    entry.answer = answer;
    void answer.then(
      (outcome) => this.#keep(entry, outcome),
      () => this.#entries.delete(key), // a fault of ours: nothing is known of what was done
    );
    return follow(answer, signal, wait);
  }

  #keep(entry: Entry, outcome: ToolCallOutcome): void {
    entry.bytes = getSize(outcome);
    this.#answers += 1;
    this.#bytes += entry.bytes;
    const { keptAnswers, keptAnswerBytes, keptKeys } = this.#limits;
    for (const [key, old] of this.#entries) {
      const full = this.#answers > keptAnswers || this.#bytes > keptAnswerBytes;
      if (!full && this.#entries.size <= keptKeys) return;
      if (old.bytes === undefined) continue;
      if (old.answer !== undefined) {
        old.answer = undefined;
        this.#answers -= 1;
        this.#bytes -= old.bytes;
      }
      if (this.#entries.size > keptKeys) this.#entries.delete(key);
    }
  }
}

async function follow(answer: Promise<ToolCallOutcome>, signal: AbortSignal, wait: AbortController) {
  const onAbort = () => wait.abort();
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
