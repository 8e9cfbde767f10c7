import type { ClientError } from "../errors.js";
import { EventOrder } from "./event-order.js";
import type { Catchup, NumberedEvent, ProcessEvent } from "./process-event.js";

/**
 * Consumes the events of a process. While a returned promise is pending, later events wait, and eventually so does the connection. An
 * exception or rejection drops the later events of this process.
 */
export type EventSink = (event: ProcessEvent) => void | Promise<void>;

/** Delivers the events of one process, from successive connections, in order to its consumer. */
export class ProcessChannel {
  readonly id: string;
  readonly #sink: EventSink;
  readonly #order = new EventOrder();
  /** Resolves when all events so far were consumed; undefined if they are. */
  #backlog: Promise<void> | undefined;
  #ended = false;
  /** Its consumer has failed. */
  #isAbandoned = false;
  /** Pending while a gap is being read. */
  filling: Promise<void> | undefined;
  /** Resolves after the last event. */
  readonly ended: Promise<void>;
  #resolveEnded!: () => void;

  constructor(id: string, sink: EventSink) {
    this.id = id;
    this.#sink = sink;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get position(): number {
    return this.#order.position;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  get hasGap(): boolean {
    return !this.#ended && this.#order.hasGap;
  }

  isHeld(seq: number): boolean {
    return this.#order.isHeld(seq);
  }

  /** Resolves when the consumer has processed the event and all before it; undefined if it has already. */
  receive(event: NumberedEvent): Promise<void> | undefined {
    return this.#ended ? undefined : this.#pass(this.#order.push(event));
  }

  catchUp(catchup: Catchup): void {
    if (!this.#ended) void this.#pass(this.#order.catchUp(catchup));
  }

  /** Ends the events with `failed`. Idempotent. */
  fail(error: ClientError): void {
    if (!this.#ended) void this.#pass([{ kind: "failed", error }]);
  }

  #pass(events: readonly ProcessEvent[]): Promise<void> | undefined {
    for (const event of events) {
      this.#deliver(event);
      if (event.kind === "closed" || event.kind === "failed") {
        this.#ended = true;
        this.#resolveEnded();
      }
    }
    return this.#backlog;
  }

  /** An error of the consumer is none of the server, whose connection other processes share. */
  #consume(event: ProcessEvent): void | Promise<void> {
    if (this.#isAbandoned) return;
    const abandon = () => {
      this.#isAbandoned = true;
    };
    try {
      return this.#sink(event)?.catch(abandon);
    } catch {
      abandon();
    }
  }

  #deliver(event: ProcessEvent): void {
    const taken = this.#backlog === undefined ? this.#consume(event) : this.#backlog.then(() => this.#consume(event));
    if (taken === undefined) return;
    const backlog = taken.finally(() => {
      if (this.#backlog === backlog) this.#backlog = undefined;
    });
    this.#backlog = backlog;
  }
}
