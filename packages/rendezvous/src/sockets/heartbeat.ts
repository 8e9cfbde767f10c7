import type { Clock } from "@codex/clock";
import type { Connection } from "./connection.js";

/** Collaborators of `Heartbeat`. */
export interface HeartbeatOptions {
  clock: Pick<Clock, "now" | "after">;
  /** Time between two pings of a connection, milliseconds. */
  pingMs: number;
  /** A connection without received data for this time is terminated, milliseconds. */
  silenceMs: number;
  /** The same for a probed connection. */
  probeMs: number;
  /** Payload of the next pings. */
  createPayload: () => string;
  /** Called before a silent connection is terminated. */
  onSilent: () => void;
}

/** Pings are spread over this many slots, so that thousands of connections do not respond simultaneously. */
const SLICES = 20;

/** Pings connections, and terminates silent ones. One timer for all of them. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #slices = Array.from({ length: SLICES }, () => new Set<Connection>());
  readonly #probed = new Set<Connection>();
  #next = 0;
  #added = 0;
  #cancel: () => void;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#cancel = this.#schedule();
  }

  /** Watches a connection until it is closed. */
  watch(connection: Connection): void {
    const slice = this.#slices[this.#added++ % SLICES]!;
    slice.add(connection);
    connection.onClose(() => {
      slice.delete(connection);
      this.#probed.delete(connection);
    });
  }

  /** Pings a connection immediately, so that an executor gets the time over which to return. */
  ping(connection: Connection): void {
    connection.ping(this.#options.createPayload());
  }

  /** Quickly terminates a connection if it is dead; for one that a new connection would replace. */
  probe(connection: Connection): void {
    const { clock, probeMs } = this.#options;
    const isFresh = clock.now() - connection.heardAt < probeMs;
    if (isFresh || connection.isPaused || this.#probed.has(connection)) return;
    this.#probed.add(connection);
    connection.ping(this.#options.createPayload());
    const askedAt = clock.now();
    clock.after(probeMs, () => {
      // It is deleted when it is closed.
      if (!this.#probed.delete(connection) || connection.isPaused || connection.heardAt >= askedAt) return;
      this.#cut(connection);
    });
  }

  close(): void {
    this.#cancel();
  }

  #schedule(): () => void {
    return this.#options.clock.after(Math.ceil(this.#options.pingMs / SLICES), () => {
      for (const connection of this.#slices[this.#next]!) this.#check(connection);
      this.#next = (this.#next + 1) % SLICES;
      this.#cancel = this.#schedule();
    });
  }

  #check(connection: Connection): void {
    // While reading is paused, silence means nothing.
    const isSilent = this.#options.clock.now() - connection.heardAt >= this.#options.silenceMs;
    if (isSilent && !connection.isPaused) this.#cut(connection);
    else connection.ping(this.#options.createPayload());
  }

  #cut(connection: Connection): void {
    this.#options.onSilent();
    connection.cut();
  }
}
