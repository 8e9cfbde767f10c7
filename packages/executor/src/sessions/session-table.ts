import { type ProcessOutcome, UNKNOWN_SESSION } from "@codex/executor-protocol";
import { evictOldest } from "@codex/values";
import { SessionError, ToolError } from "../errors.js";
import type { Ids } from "../ids.js";
import { type ExecutorLimits, FORMER_IDS } from "../limits.js";
import { describeOutcome } from "./describe-outcome.js";
import type { Session } from "./session.js";

export type TableLimits = Pick<ExecutorLimits, "sessions" | "newestSessions" | "recentSessions" | "retainedLogs">;

/** An ended session that no longer occupies a place. */
interface Recent {
  /** Undefined once its output was dropped. */
  session: Session | undefined;
  /** State of the session when its output was dropped. */
  last: { outcome: ProcessOutcome; unread: number; hasSent: boolean } | undefined;
  /** The client that started it. */
  client: string | undefined;
  /** It was ended to make room, and no result has reported that yet. */
  unreported: boolean;
}

/**
 * The sessions of one orchestrator. A session occupies a place from before the start of its process until its end was reported;
 * when all places are occupied, the least recently used session is ended.
 */
export class SessionTable {
  readonly #limits: TableLimits;
  readonly #ids: Ids;
  readonly #onForgotten: (session: { id: number; client: string | undefined }) => void;
  /** Least recently used first; undefined for a place whose process is being started. */
  readonly #live = new Map<number, Session | undefined>();
  /** Oldest first. */
  readonly #recent = new Map<number, Recent>();
  /** Ids of live output that does not belong to a session. */
  readonly #outputs = new Set<number>();
  /**
   * Ids of ended live output that must not be reused yet, oldest first. An orchestrator may remember how far it received that
   * output, and would report this offset for a new session with the same id: output of that session that was lost with a channel
   * would not be sent again.
   */
  readonly #former = new Set<number>();

  /** @param onForgotten called when a session is no longer known by its id */
  constructor(
    limits: TableLimits,
    ids: Ids,
    onForgotten: (session: { id: number; client: string | undefined }) => void = () => {},
  ) {
    this.#limits = limits;
    this.#ids = ids;
    this.#onForgotten = onForgotten;
  }

  /**
   * Reserves a place under a new id. `pruned` is the session that lost its place and has to be ended: one of the client with the
   * most sessions.
   * @throws ToolError when no place can be freed
   */
  reserve(client?: string): { id: number; pruned: Session | undefined } {
    const pruned = this.#live.size < this.#limits.sessions ? undefined : this.#pickLeastUsed(client);
    if (pruned !== undefined) {
      this.#live.delete(pruned.id);
      this.#remember(pruned, true);
    }
    const id = this.#mintId();
    this.#live.set(id, undefined);
    return { id, pruned };
  }

  /** Whether there is such a session. `client`: only its own sessions count. */
  has(id: number, client?: string): boolean {
    const live = this.#live.get(id);
    if (live !== undefined) return isOf(live, client);
    const recent = this.#recent.get(id);
    return recent === undefined ? this.#live.has(id) && client === undefined : isOf(recent, client);
  }

  /** Reserves an id for live output that does not belong to a session, until `retireId`. */
  reserveOutput(): number {
    const id = this.#mintId();
    this.#outputs.add(id);
    return id;
  }

  /** Frees an id of live output, which is not reused for a while. */
  retireId(id: number): void {
    this.#outputs.delete(id);
    this.#former.delete(id);
    this.#former.add(id);
    evictOldest(this.#former, FORMER_IDS);
  }

  #mintId(): number {
    return this.#ids.session((id) => this.has(id) || this.#outputs.has(id) || this.#former.has(id));
  }

  /** Fills a place that was reserved. */
  add(session: Session): void {
    this.#live.set(session.id, session);
  }

  /** Frees a reserved place whose process was not started. */
  release(id: number): void {
    this.#live.delete(id);
  }

  /** Frees the place of a session whose end was reported with all of its output. */
  retire(session: Session): void {
    if (this.#live.delete(session.id)) return this.#remember(session, false);
    const recent = this.#recent.get(session.id);
    if (recent === undefined) return;
    recent.unreported = false;
    if (!session.isWanted) drop(recent);
  }

  /** The result that reported the end of a session was never received: it can be requested again. */
  unreport(session: Session): void {
    const recent = this.#recent.get(session.id);
    if (recent === undefined) return;
    recent.session = session;
    recent.last = undefined;
    recent.unreported = true;
  }

  /** Sessions that occupy a place, the least recently used first. `client`: only its own. */
  list(client?: string): Session[] {
    return [...this.#live.values()]
      .filter((session) => session !== undefined)
      .filter((session) => isOf(session, client));
  }

  /** Sessions that occupy a place, and those whose output is still readable. */
  listAll(): Session[] {
    const retained = [...this.#recent.values()].flatMap(({ session }) => session ?? []);
    return [...this.list(), ...retained];
  }

  /** Makes a session the most recently used one. */
  touch(session: Session): void {
    if (!this.#live.delete(session.id)) return;
    this.#live.set(session.id, session);
  }

  /** A session that can be called. @throws ToolError when there is none, and for one of another client */
  require(id: number, client?: string): Session {
    const session = this.#live.get(id);
    if (session !== undefined && isOf(session, client)) return session;
    const recent = this.#recentOf(id, client);
    if (recent?.unreported && recent.session !== undefined) return recent.session;
    throw this.#explain(id, recent);
  }

  /** A session whose output can be read; undefined when there is none. */
  peek(id: number): Session | undefined {
    return this.#live.get(id) ?? this.#recent.get(id)?.session;
  }

  /** A session whose output can be read, also when it has ended. @throws ToolError when there is none, and for one of another client */
  find(id: number, client?: string): Session {
    const recent = this.#recentOf(id, client);
    const session = this.#live.get(id) ?? recent?.session;
    if (session === undefined || !isOf(session, client)) throw this.#explain(id, recent);
    return session;
  }

  #recentOf(id: number, client: string | undefined): Recent | undefined {
    const recent = this.#recent.get(id);
    return recent !== undefined && isOf(recent, client) ? recent : undefined;
  }

  #explain(id: number, recent: Recent | undefined): SessionError {
    const unknown = { code: UNKNOWN_SESSION };
    if (recent === undefined) return new SessionError(id, "list_sessions lists the sessions", unknown);
    const { outcome, unread } = recent.last ?? { outcome: recent.session?.process.outcome, unread: 0 };
    const ended = outcome === undefined ? "" : `: ${describeOutcome(outcome)}`;
    if (!recent.unreported) return new SessionError(id, `it has ended, and its end was reported${ended}`, unknown);
    recent.unreported = false;
    const why = `was ended to make room for another; ${describePlaces(this.#limits)}`;
    return new SessionError(id, `${why}${ended}; ${unread} bytes of its output were dropped unread`);
  }

  /** Ended sessions first; never one whose first call is in progress. One that a call waits for counts as just used. */
  #pickLeastUsed(client: string | undefined): Session {
    const sessions = this.list();
    const idle = sessions.filter(({ isUsed }) => !isUsed);
    const busy = sessions.filter(({ isUsed }) => isUsed);
    const available = [...idle, ...busy]
      .slice(0, Math.max(0, this.#live.size - this.#limits.newestSessions))
      .filter(({ isEstablished }) => isEstablished);
    const largest = this.#findLargestShare(sessions, client);
    const share = available.filter((session) => session.client === largest);
    const candidates = share.length > 0 ? share : available;
    const picked = candidates.find(({ state }) => state.outcome.kind !== "running") ?? candidates[0];
    if (picked !== undefined) return picked;
    throw new ToolError(
      `no session can be started: ${describePlaces(this.#limits)} and none of them can be ended to make room; end one with kill_session or wait for one to end`,
    );
  }

  /** The client with the most of these sessions; this one if no other has more. */
  #findLargestShare(sessions: readonly Session[], client: string | undefined): string | undefined {
    const counts = new Map<string | undefined, number>();
    for (const { client: one } of sessions) counts.set(one, (counts.get(one) ?? 0) + 1);
    let largest = client;
    for (const [one, count] of counts) if (count > (counts.get(largest) ?? 0)) largest = one;
    return largest;
  }

  #remember(session: Session, unreported: boolean): void {
    const recent: Recent = { session, last: undefined, client: session.client, unreported };
    this.#recent.set(session.id, recent);
    if (!unreported && !session.isWanted) drop(recent);
    const retained = [...this.#recent.values()].filter((entry) => entry.session !== undefined);
    const idle = retained.filter((entry) => entry.session?.isUsed === false);
    for (const entry of idle.slice(0, Math.max(0, retained.length - this.#limits.retainedLogs))) drop(entry);
    for (const [id, entry] of this.#recent) {
      if (this.#recent.size <= this.#limits.recentSessions) break;
      drop(entry);
      this.#recent.delete(id);
      this.#onForgotten({ id, client: entry.client });
      if (entry.last?.hasSent) this.retireId(id);
    }
  }
}

/** Whether a call of this client has access to a session; undefined: of an orchestrator without several clients, to all. */
const isOf = (session: { client: string | undefined }, client: string | undefined): boolean =>
  client === undefined || session.client === client;

const describePlaces = (limits: TableLimits): string => `at most ${limits.sessions} sessions are kept`;

/** Frees the output of a session. */
function drop(recent: Recent): void {
  const { session } = recent;
  if (session === undefined) return;
  recent.session = undefined;
  const last = { outcome: session.process.outcome, unread: session.unread, hasSent: session.live.hasSent };
  recent.last = last;
  void session.process.exited.then((outcome) => {
    last.outcome = outcome;
    session.dispose();
  });
}
