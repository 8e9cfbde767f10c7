import { messageOf } from "@codex/values";
import type { TimedEvent } from "./chain.js";
import type { AuditEvent } from "./event.js";
import { MAX_AUDIT_BATCH, MAX_AUDIT_QUEUE } from "./limits.js";

/** A destination of records. It links them into one chain, also when several processes append to it. */
export interface AuditSink {
  /** Appends all events or none: a rejection means none. Calls never overlap. */
  append(events: readonly TimedEvent[]): Promise<void>;
}

/** Queues events and writes them in order, in the background. */
export interface AuditLog {
  /** Settles when the event is written; rejects when it is not. */
  record(event: AuditEvent): Promise<void>;
  /** Resolves when everything recorded so far is written or has failed. Never rejects. */
  flush(): Promise<void>;
}

/** Options of `createAuditLog`. */
export interface AuditLogOptions {
  sink: AuditSink;
  /** Called when writing starts to fail, once until it works again. */
  onProblem?: (message: string) => void;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** A log that queues at most `MAX_AUDIT_QUEUE` events and writes them in order, in the background. */
export const createAuditLog = (options: AuditLogOptions): AuditLog => new QueuedLog(options);

interface QueuedEvent extends TimedEvent {
  resolve: () => void;
  reject: (error: unknown) => void;
}

class QueuedLog implements AuditLog {
  readonly #options: AuditLogOptions;
  readonly #now: () => number;
  readonly #queue: QueuedEvent[] = [];
  #writing: Promise<void> | undefined;
  #lost = 0;
  #isFailing = false;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  record(event: AuditEvent): Promise<void> {
    if (this.#queue.length >= MAX_AUDIT_QUEUE) {
      this.#lost++;
      return Promise.reject(new Error(`${MAX_AUDIT_QUEUE} audit records wait to be written (limit)`));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ at: this.#now(), event, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async flush(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Events recorded in the same turn of the event loop are written together.
    await undefined;
    while (this.#queue.length > 0) await this.#write(this.#queue.splice(0, MAX_AUDIT_BATCH));
    this.#writing = undefined;
  }

  async #write(batch: readonly QueuedEvent[]): Promise<void> {
    const lost = this.#lost;
    const marker: TimedEvent[] = lost === 0 ? [] : [{ at: this.#now(), event: { type: "lost", records: lost } }];
    try {
      await this.#options.sink.append([...marker, ...batch.map(({ at, event }) => ({ at, event }))]);
      this.#lost -= lost;
      this.#isFailing = false;
      for (const { resolve } of batch) resolve();
    } catch (error) {
      this.#lost += batch.length;
      for (const { reject } of batch) reject(error);
      if (!this.#isFailing) this.#options.onProblem?.(`the audit log cannot be written: ${messageOf(error)}`);
      this.#isFailing = true;
    }
  }
}
