import type { Clock } from "@codex/clock";
import type { Connection } from "./connection.js";

/** Collaborators of `Heartbeat`. */
export interface HeartbeatOptions {
  clock: Pick<Clock, "now" | "after">;
  /** Between two pings of a connection, milliseconds. */
  pingMs: number;
  /** A connection from which nothing comes for so long is cut, milliseconds. */
  silenceMs: number;
  /** The same for one that is probed. */
  probeMs: number;
  /** Called before a silent connection is cut. */
  onSilent: () => void;
}

/** Pings are spread over so many moments: thousands of connections do not answer at once. */
const SLICES = 20;

/** Pings connections, and cuts those that are silent. One timer for all of them. */
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

  /** Cuts a connection soon if it is dead; for one that is in somebody's way. */
  probe(connection: Connection): void {
    const { clock, probeMs } = this.#options;
    const isFresh = clock.now() - connection.heardAt < probeMs;
    if (isFresh || connection.isPaused || this.#probed.has(connection)) return;
    this.#probed.add(connection);
    connection.ping();
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
    // Where nothing is read on purpose, silence means nothing.
    const isSilent = this.#options.clock.now() - connection.heardAt >= this.#options.silenceMs;
    if (isSilent && !connection.isPaused) this.#cut(connection);
    else connection.ping();
  }

  #cut(connection: Connection): void {
    this.#options.onSilent();
    connection.cut();
  }
}
