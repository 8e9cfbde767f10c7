import type { AgentEvent } from "../events/agent-event.js";

/** A bounded queue of events for one consumer, with back-pressure. */
export class EventQueue {
  readonly #max: number;
  #events: AgentEvent[] = [];
  #ended = false;
  #isRead = true;
  #onChange: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when the queue has space. */
  async push(event: AgentEvent): Promise<void> {
    if (!this.#isRead) return;
    this.#events.push(event);
    this.#changed();
    while (this.#isRead && this.#events.length >= this.#max) await this.#untilChanged();
  }

  /** Discards all queued and future events. */
  stopReading(): void {
    this.#isRead = false;
    this.#events = [];
    this.#changed();
  }

  end(): void {
    this.#ended = true;
    this.#changed();
  }

  /** Returns undefined at the end. */
  async next(): Promise<AgentEvent | undefined> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) {
        this.#changed();
        return event;
      }
      if (this.#ended || !this.#isRead) return undefined;
      await this.#untilChanged();
    }
  }

  #untilChanged(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #changed(): void {
    for (const wake of this.#onChange.splice(0)) wake();
  }
}
