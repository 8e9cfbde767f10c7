import type { RendezvousLimits } from "../limits.js";
import type { Direction, RendezvousMetrics } from "../metrics.js";
import type { CloseCause, ExecutorLink } from "../registry/registrations.js";
import { CLOSE } from "../sockets/close-code.js";
import type { Connection } from "../sockets/connection.js";

/** Collaborators of `DirectExecutor`. */
export interface DirectExecutorOptions {
  connection: Connection;
  limits: RendezvousLimits;
  metrics: RendezvousMetrics;
}

/** The connection of a direct executor: one unencrypted session for one harness. Both connections end together. */
export class DirectExecutor implements ExecutorLink {
  readonly #options: DirectExecutorOptions;
  #harness: Connection | undefined;

  constructor(options: DirectExecutorOptions) {
    this.#options = options;
    options.connection.onClose(() => this.#closeHarness());
  }

  get load(): number {
    return this.#harness === undefined ? 0 : 1;
  }

  /** Connection of its harness. */
  get harness(): Connection | undefined {
    return this.#harness;
  }

  findTicketId(): undefined {
    return undefined;
  }

  close(cause: CloseCause): void {
    this.#options.connection.close(CLOSE.replaced, cause);
    // Without waiting, as a dead connection takes a while to close.
    this.#closeHarness();
  }

  /** Attaches a harness; there must be none yet. */
  addHarness(harness: Connection): void {
    const { connection } = this.#options;
    this.#harness = harness;
    // The executor retains its session, and reconnects for the next harness.
    harness.onClose(() => connection.close(CLOSE.normal, "the harness is gone"));
    this.#forward(harness, connection, "to_executor");
    this.#forward(connection, harness, "to_harness");
  }

  #closeHarness(): void {
    this.#harness?.close(CLOSE.executorGone, "the executor is gone");
  }

  #forward(from: Connection, to: Connection, direction: Direction): void {
    const { limits, metrics } = this.#options;
    from.onMessage(({ bytes, isBinary }) => {
      metrics.frames[direction].value += 1;
      metrics.bytes[direction].value += bytes.length;
      to.send(bytes, isBinary);
      if (to.unsentBytes >= limits.pauseAtBytes) from.pause();
    });
    to.onDrain(() => from.resume());
  }
}
