import type { ToolCallOutcome } from "@codex/executor-protocol";
import type { ExecutorLimits } from "../limits.js";
import { sizeOfOutcome } from "../outcome-size.js";
import type { KeptOutput } from "../output/kept-output.js";

/** A call and its result, if known. */
export interface CallRecord {
  readonly requestId: string;
  readonly toolName: string;
  /** The epoch of the outbox in which the call arrived. */
  readonly epoch: number;
  /** Ends the wait of the call. */
  readonly wait: AbortController;
  /** Undefined while the call is in progress. */
  outcome: ToolCallOutcome | undefined;
  kept: KeptOutput | undefined;
  /** The orchestrator has abandoned the call: its result is not sent. */
  givenUp: boolean;
}

export type RecordLimits = Pick<ExecutorLimits, "unacknowledgedResults" | "unacknowledgedBytes">;

/** Calls of one orchestrator that are in progress, or whose result it may not have received. */
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

  /** Retains the result of a record until `remove`; the oldest ones are removed at the limits. */
  keep(record: CallRecord): void {
    const size = getSize(record);
    this.#sizes.set(record, size);
    this.#bytes += size;
    const { unacknowledgedResults, unacknowledgedBytes } = this.#limits;
    for (const oldest of this.#sizes.keys()) {
      if (this.#sizes.size <= unacknowledgedResults && this.#bytes <= unacknowledgedBytes) return;
      this.remove(oldest);
    }
  }

  /** Removes a record, whose result need not be sent again. */
  remove(record: CallRecord): void {
    if (this.#records.get(record.requestId) === record) this.#records.delete(record.requestId);
    this.#bytes -= this.#sizes.get(record) ?? 0;
    this.#sizes.delete(record);
    record.kept?.release();
    record.kept = undefined;
  }
}

/** Approximate bytes in memory. */
function getSize({ outcome, kept }: CallRecord): number {
  return RECORD_BYTES + sizeOfOutcome(outcome) + (kept?.bytes ?? 0);
}

const RECORD_BYTES = 1024;
