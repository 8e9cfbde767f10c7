import type { AgentEvent } from "../events/agent-event.js";

/** Events on their way to one reader. A reader that lags holds back who emits. */
export class EventQueue {
  readonly #max: number;
  #events: AgentEvent[] = [];
  #ended = false;
  #isRead = true;
  #onChange: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when there is room. */
  async push(event: AgentEvent): Promise<void> {
    if (!this.#isRead) return;
    this.#events.push(event);
    this.#changed();
    while (this.#isRead && this.#events.length >= this.#max) await this.#untilChanged();
  }

  /** Nobody reads any more: events that wait are dropped, and so are those that come. */
  stopReading(): void {
    this.#isRead = false;
    this.#events = [];
    this.#changed();
  }

  end(): void {
    this.#ended = true;
    this.#changed();
  }

  /** Undefined at the end. */
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
