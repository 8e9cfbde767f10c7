import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "@codex/clock";
import { getProgramName } from "@codex/exec-backend";
import type { ExecutorTelemetry } from "../executor-telemetry.js";
import { describeOutcome } from "../sessions/describe-outcome.js";
import type { EndedSession } from "../sessions/unified-exec.js";
import type { Connection, Unfinished } from "./connection.js";

export interface ConnectionsOptions {
  clock: Clock;
  /** Maximum number of connections without a channel, for each kind of `Unfinished`. */
  maxLost: number;
  telemetry: Pick<ExecutorTelemetry, "log" | "connections" | "accepted" | "resumed" | "expired">;
}

/** A connection without a channel. */
interface Lost {
  /** Called when it was resumed or ended. */
  resolve: () => void;
  stopClock: () => void;
}

/** The connections of an executor, with a channel or waiting to be resumed. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #all = new Set<Connection>();
  /** In the order in which their channels were lost. */
  readonly #lost = new Map<Connection, Lost>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#all.size;
  }

  add(connection: Connection): void {
    const { telemetry } = this.#options;
    this.#all.add(connection);
    telemetry.accepted.value += 1;
    telemetry.connections.value += 1;
    telemetry.log.info?.("orchestrator connected", { connection: connection.number });
  }

  /** The resumable connection with this id. Takes constant time, so that timing reveals nothing about existing ids. */
  find(id: string): Connection | undefined {
    const wanted = digest(id);
    let found: Connection | undefined;
    for (const connection of this.#all) {
      if (timingSafeEqual(digest(connection.id), wanted) && connection.isResumable) found = connection;
    }
    return found;
  }

  /** Reports that a connection has a channel again. */
  reclaim(connection: Connection): void {
    const lost = this.#lost.get(connection);
    this.#lost.delete(connection);
    lost?.stopClock();
    lost?.resolve();
    const { resumed, log } = this.#options.telemetry;
    resumed.value += 1;
    log.info?.("orchestrator came back", { connection: connection.number });
  }

  /** Reports that the channel was lost. Resolves when the connection was resumed over another, or has expired and was ended. */
  async keep(connection: Connection): Promise<void> {
    const { clock, telemetry } = this.#options;
    telemetry.log.info?.("channel lost", { connection: connection.number });
    const over = new Promise<void>((resolve) => {
      const { graceMs } = connection;
      const expire = () => void this.end(connection, `it was not resumed within ${graceMs} ms`).then(resolve);
      this.#lost.set(connection, { resolve, stopClock: clock.after(graceMs, expire) });
    });
    this.#makeRoom();
    await over;
  }

  /** The limit applies to each kind separately: connections with less to lose never displace those with more. */
  #makeRoom(): void {
    const { maxLost } = this.#options;
    const counts = { work: 0, results: 0, nothing: 0 } satisfies Record<Unfinished, number>;
    const latestFirst = [...this.#lost.keys()].reverse();
    for (const connection of latestFirst) {
      const { unfinished } = connection;
      counts[unfinished] += 1;
      if (counts[unfinished] <= maxLost) continue;
      void this.end(connection, `${maxLost} other connections wait to be resumed, which is the limit`);
    }
  }

  /** Ends a connection with its calls and sessions. Idempotent; never rejects. */
  async end(connection: Connection, cause?: string): Promise<void> {
    const lost = this.#lost.get(connection);
    this.#lost.delete(connection);
    lost?.stopClock();
    const ended = await connection.end(cause === undefined ? undefined : `the channel was lost, and ${cause}`);
    this.#forget(connection, cause);
    if (cause !== undefined) for (const session of ended) this.#logEnd(session, cause);
    lost?.resolve();
  }

  #forget(connection: Connection, cause: string | undefined): void {
    if (!this.#all.delete(connection)) return;
    const { connections, expired, log } = this.#options.telemetry;
    connections.value -= 1;
    if (cause !== undefined) expired.value += 1;
    log.info?.("orchestrator gone", { connection: connection.number, cause });
  }

  /** Logs how a session ended whose connection expired. */
  #logEnd({ session, receipt }: EndedSession, cause: string): void {
    this.#options.telemetry.log.warn?.("session ended with its channel", {
      sessionId: session.id,
      program: getProgramName(session.command),
      cause,
      outcome: receipt === undefined ? "unknown" : describeOutcome(receipt.outcome),
      signals: receipt?.signals.join(" "),
      gone: receipt?.gone,
    });
  }

  /** From now on no connection starts anything. Resolves when exec-servers have ended what runs, which has `waitMs` for that. */
  async refuseStarts(waitMs: number): Promise<void> {
    await Promise.all(Array.from(this.#all, (connection) => connection.refuseStarts(waitMs)));
  }

  /** Ends all connections; those with a channel get the last output of their sessions, and how these ended. */
  async drainAll(): Promise<void> {
    const drain = async (connection: Connection) => {
      if (!this.#lost.has(connection)) await connection.drain();
      await this.end(connection);
    };
    await Promise.all([...this.#all].map(drain));
  }

  /** Ends all connections. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => this.end(connection)));
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
