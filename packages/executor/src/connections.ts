import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "./clock.js";
import type { Connection } from "./connection.js";
import { renderOutcome } from "./sessions/render.js";
import type { EndedSession } from "./sessions/unified-exec.js";
import { quote } from "./text.js";

export interface ConnectionsOptions {
  clock: Clock;
  /** Those without a channel, at once. */
  maxLost: number;
  log: (message: string) => void;
}

/** A connection without a channel. */
interface Lost {
  /** Another channel has come, or it was ended. */
  resolve: () => void;
  stopClock: () => void;
}

/** The connections of an executor: those with a channel, and those that wait for one. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #all = new Set<Connection>();
  /** The one longest gone first. */
  readonly #lost = new Map<Connection, Lost>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  add(connection: Connection): void {
    this.#all.add(connection);
  }

  /** The one with this id that can be resumed. How long it takes says nothing about the ids there are. */
  find(id: string): Connection | undefined {
    const wanted = digest(id);
    let found: Connection | undefined;
    for (const connection of this.#all) {
      if (timingSafeEqual(digest(connection.id), wanted) && connection.isResumable) found = connection;
    }
    return found;
  }

  /** It has a channel again. */
  reclaim(connection: Connection): void {
    const lost = this.#lost.get(connection);
    this.#lost.delete(connection);
    lost?.stopClock();
    lost?.resolve();
  }

  /** Its channel was lost. Resolves when it has another, or when nobody came and it was ended. */
  async keep(connection: Connection): Promise<void> {
    const { clock, maxLost } = this.#options;
    const over = new Promise<void>((resolve) => {
      const { graceMs } = connection;
      const expire = () => void this.end(connection, `nobody came back within ${graceMs} ms`).then(resolve);
      this.#lost.set(connection, { resolve, stopClock: clock.after(graceMs, expire) });
    });
    const [longestGone] = this.#lost.keys();
    if (this.#lost.size > maxLost && longestGone !== undefined) {
      void this.end(longestGone, `${maxLost} others wait for their orchestrators, which is the limit`);
    }
    await over;
  }

  /** Ends a connection with everything it has. Idempotent; never rejects. */
  async end(connection: Connection, cause?: string): Promise<void> {
    const lost = this.#lost.get(connection);
    this.#lost.delete(connection);
    lost?.stopClock();
    const ended = await connection.end(cause === undefined ? undefined : `the channel was lost, and ${cause}`);
    this.#all.delete(connection);
    if (cause !== undefined) for (const session of ended) this.#options.log(describeEnd(session, cause));
    lost?.resolve();
  }

  /** Ends all of them at once. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => this.end(connection)));
  }
}

/** The receipt of a session, for a log. */
function describeEnd({ session, receipt }: EndedSession, cause: string): string {
  const what = `session ${session.id} (${quote(session.command.join(" "))}) was ended: its channel was lost, and ${cause}`;
  if (receipt === undefined) return `${what}; whether it is gone is unknown`;
  const signals = receipt.signals.join(", ") || "none";
  const gone = receipt.gone ? "all of its group is gone" : "something of its group is still there";
  return `${what}; ${renderOutcome(receipt.outcome, session.id)}; signals sent: ${signals}; ${gone}`;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
