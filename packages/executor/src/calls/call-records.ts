import type { ToolCallOutcome } from "@codex/executor-protocol";
import type { ExecutorLimits } from "../limits.js";
import type { KeptOutput } from "../output/kept-output.js";

/** A call and what is known of its answer. */
export interface CallRecord {
  readonly requestId: string;
  readonly toolName: string;
  /** Epoch of the outbox when it arrived. */
  readonly epoch: number;
  /** Ends its wait. */
  readonly wait: AbortController;
  /** Undefined while it is under way. */
  outcome: ToolCallOutcome | undefined;
  kept: KeptOutput | undefined;
  /** The orchestrator has given it up: its answer is not sent. */
  givenUp: boolean;
}

export type RecordLimits = Pick<ExecutorLimits, "unacknowledgedAnswers" | "unacknowledgedBytes">;

/** The calls of one orchestrator: those under way, and those whose answer it may not have received. */
export class CallRecords {
  readonly #limits: RecordLimits;
  /** Oldest first. */
  readonly #records = new Map<string, CallRecord>();
  readonly #sizes = new Map<CallRecord, number>();
  #bytes = 0;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#records.size;
  }

  get(requestId: string): CallRecord | undefined {
    return this.#records.get(requestId);
  }

  /** Oldest first. */
  list(): CallRecord[] {
    return [...this.#records.values()];
  }

  add(record: CallRecord): void {
    const before = this.#records.get(record.requestId);
    if (before !== undefined) this.remove(before);
    this.#records.set(record.requestId, record);
  }

  /** The record has its answer, which is kept until `remove`; the oldest ones make room for it. */
  keep(record: CallRecord): void {
    const size = getSize(record);
    this.#sizes.set(record, size);
    this.#bytes += size;
    const { unacknowledgedAnswers, unacknowledgedBytes } = this.#limits;
    for (const oldest of this.#sizes.keys()) {
      if (this.#sizes.size <= unacknowledgedAnswers && this.#bytes <= unacknowledgedBytes) return;
      this.remove(oldest);
    }
  }

  /** It need not be answered again. */
  remove(record: CallRecord): void {
    if (this.#records.get(record.requestId) === record) this.#records.delete(record.requestId);
    this.#bytes -= this.#sizes.get(record) ?? 0;
    this.#sizes.delete(record);
    record.kept?.release();
    record.kept = undefined;
  }
}

/** Bytes in memory, about. */
function getSize({ outcome, kept }: CallRecord): number {
  const texts = outcome?.status === "success" ? outcome.content.map(({ text }) => text) : [outcome?.message ?? ""];
  const answer = texts.reduce((sum, text) => sum + Buffer.byteLength(text), RECORD_BYTES);
  return answer + (kept?.bytes ?? 0);
}

const RECORD_BYTES = 1024;
