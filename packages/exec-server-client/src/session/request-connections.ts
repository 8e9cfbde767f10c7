import type { Connection } from "../connection/connection.js";
import { MAX_IDLE_REQUEST_CONNECTIONS, MAX_REQUEST_CONNECTIONS } from "../limits.js";

/** Connections that carry one request at a time, and are closed to cancel it. */
export class RequestConnections {
  readonly #open: (signal: AbortSignal) => Promise<Connection> | undefined;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  #opening = 0;
  #isClosed = false;

  /** @param open undefined where there can be no other connection */
  constructor(open: (signal: AbortSignal) => Promise<Connection> | undefined) {
    this.#open = open;
  }

  /** An idle or a new connection; undefined at the limit, or where there can be none. Rejects as `open` does. */
  async take(signal: AbortSignal): Promise<Connection | undefined> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#isClosed || this.#all.size + this.#opening >= MAX_REQUEST_CONNECTIONS) return undefined;
    this.#opening += 1;
    try {
      const connection = await this.#open(signal);
      if (connection === undefined) return undefined;
      this.#all.add(connection);
      void connection.ended.then(() => this.#forget(connection));
      if (this.#isClosed) void connection.close();
      return connection;
    } finally {
      this.#opening -= 1;
    }
  }

  /** Returns a connection whose request has its whole response. */
  giveBack(connection: Connection): void {
    if (!this.#all.has(connection)) return;
    if (this.#isClosed || this.#idle.length >= MAX_IDLE_REQUEST_CONNECTIONS) void connection.close();
    else this.#idle.push(connection);
  }

  /** Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#all, (connection) => connection.close()));
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}
