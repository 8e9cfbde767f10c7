import { SEND_COUNTS_MS } from "../limits.js";
import type { Registration } from "./registrations.js";

/** Counts harnesses that were recently sent to an executor and are not part of its load yet. */
export class RecentSends {
  readonly #now: () => number;
  readonly #times = new WeakMap<Registration, number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  note(registration: Registration): void {
    const times = this.#recent(registration);
    times.push(this.#now());
    this.#times.set(registration, times);
  }

  count(registration: Registration): number {
    return this.#recent(registration).length;
  }

  #recent(registration: Registration): number[] {
    const times = this.#times.get(registration) ?? [];
    const since = this.#now() - SEND_COUNTS_MS;
    const first = times.findIndex((time) => time > since);
    times.splice(0, first === -1 ? times.length : first);
    return times;
  }
}
