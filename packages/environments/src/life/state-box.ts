import { defined } from "@codex/values";
import type { EnvironmentState, EnvironmentStatus } from "../environment.js";

/** The state of one environment and the listeners for its changes. */
export class StateBox {
  #state: EnvironmentState;
  readonly #listeners = new Set<(state: EnvironmentState) => void>();
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
    this.#state = { status: "disconnected", since: now() };
  }

  get state(): EnvironmentState {
    return this.#state;
  }

  set(status: EnvironmentStatus, reason?: string): void {
    if (this.#state.status === status && this.#state.reason === reason) return;
    this.#state = { status, since: this.#now(), ...defined({ reason }) };
    for (const listener of [...this.#listeners]) {
      try {
        listener(this.#state);
      } catch {
        // An exception of a listener must not affect the connection.
      }
    }
  }

  listen(listener: (state: EnvironmentState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
