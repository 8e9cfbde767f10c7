import type { ProcessOutcome } from "@codex/executor-protocol";
import { deleteOldest } from "../delete-oldest.js";
import { ToolError } from "../errors.js";
import type { Ids } from "../ids.js";
import { type ExecutorLimits, FORMER_IDS } from "../limits.js";
import { renderOutcome } from "./render.js";
import type { Session } from "./session.js";

export type TableLimits = Pick<ExecutorLimits, "sessions" | "newestSessions" | "recentSessions" | "retainedLogs">;

/** An ended session that gave its place up. */
interface Recent {
  /** Undefined once its output was dropped. */
  session: Session | undefined;
  /** Of the session when its output was dropped. */
  last: { outcome: ProcessOutcome; unread: number; hasSent: boolean } | undefined;
  /** On whose behalf it was started. */
  client: string | undefined;
  /** It was ended to make room, and no answer has reported that yet. */
  unreported: boolean;
}

/**
 * The sessions of one orchestrator. A place is taken from before the start of a process until its end was answered;
 * when all are taken, the least recently used one gives its place up.
 */
export class SessionTable {
  readonly #limits: TableLimits;
  readonly #ids: Ids;
  /** Least recently used first; undefined for a place whose process is being started. */
  readonly #live = new Map<number, Session | undefined>();
  /** Oldest first. */
  readonly #recent = new Map<number, Recent>();
  /** Ids of output that belongs to no session. */
  readonly #outputs = new Set<number>();
  /**
   * Ids that live output was sent under and that name nothing any more, oldest first. An orchestrator may remember how far
   * it received that output, and would claim the same of a new session of this id: what a lost channel dropped of that one
   * would not be sent again.
   */
  readonly #former = new Set<number>();

  constructor(limits: TableLimits, ids: Ids) {
    this.#limits = limits;
    this.#ids = ids;
  }

  /**
   * Takes a place under a new id. `pruned` is the session that gave up its place and has to be ended: one of the client
   * with the most places.
   * @throws ToolError when no place can be made.
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

  /** For a client: whether the session is one of its own. */
  has(id: number, client?: string): boolean {
    const live = this.#live.get(id);
    if (live !== undefined) return isOf(live, client);
    const recent = this.#recent.get(id);
    return recent === undefined ? this.#live.has(id) && client === undefined : isOf(recent, client);
  }

  /** Takes an id for output that belongs to no session, until `leave`. */
  reserveOutput(): number {
    const id = this.#mintId();
    this.#outputs.add(id);
    return id;
  }

  /** Retires an id that live output was sent under. */
  leave(id: number): void {
    this.#outputs.delete(id);
    this.#former.delete(id);
    this.#former.add(id);
    deleteOldest(this.#former, FORMER_IDS);
  }

  #mintId(): number {
    return this.#ids.session((id) => this.has(id) || this.#outputs.has(id) || this.#former.has(id));
  }

  /** Fills a place that was reserved. */
  add(session: Session): void {
    this.#live.set(session.id, session);
  }

  /** Gives up a place whose process was not started. */
  release(id: number): void {
    this.#live.delete(id);
  }

  /** The end of a session was answered, with all of its output. */
  retire(session: Session): void {
    if (this.#live.delete(session.id)) return this.#remember(session, false);
    const recent = this.#recent.get(session.id);
    if (recent === undefined) return;
    recent.unreported = false;
    if (!session.wasCut) drop(recent);
  }

  /** The answer that reported the end of a session was never received: it can be requested once more. */
  unreport(session: Session): void {
    session.outcomeReported = false;
    const recent = this.#recent.get(session.id);
    if (recent === undefined) return;
    recent.session = session;
    recent.last = undefined;
    recent.unreported = true;
  }

  /** Of those that have a place, the least recently used first. For a client: its own. */
  list(client?: string): Session[] {
    return [...this.#live.values()]
      .filter((session) => session !== undefined)
      .filter((session) => isOf(session, client));
  }

  /** Those that have a place, and those whose output is still readable. */
  listAll(): Session[] {
    const retained = [...this.#recent.values()].flatMap(({ session }) => session ?? []);
    return [...this.list(), ...retained];
  }

  /** Makes a session the most recently used one. */
  touch(session: Session): void {
    if (!this.#live.delete(session.id)) return;
    this.#live.set(session.id, session);
  }

  /** The session that a call means. @throws ToolError when it cannot be called, and for one of another client. */
  contact(id: number, client?: string): Session {
    const session = this.#live.get(id);
    if (session !== undefined && isOf(session, client)) return session;
    const recent = this.#recentOf(id, client);
    if (recent?.unreported && recent.session !== undefined) return recent.session;
    throw new ToolError(this.#explain(id, recent));
  }

  /** A session whose output can be read; undefined when there is none. */
  peek(id: number): Session | undefined {
    return this.#live.get(id) ?? this.#recent.get(id)?.session;
  }

  /** A session whose output can be read, ended or not. @throws ToolError when there is none, and for one of another client. */
  find(id: number, client?: string): Session {
    const recent = this.#recentOf(id, client);
    const session = this.#live.get(id) ?? recent?.session;
    if (session === undefined || !isOf(session, client)) throw new ToolError(this.#explain(id, recent));
    return session;
  }

  #recentOf(id: number, client: string | undefined): Recent | undefined {
    const recent = this.#recent.get(id);
    return recent !== undefined && isOf(recent, client) ? recent : undefined;
  }

  #explain(id: number, recent: Recent | undefined): string {
    if (recent === undefined) return `unknown session ${id}; list_sessions lists those there are`;
    const { outcome, unread } = recent.last ?? { outcome: recent.session?.process.outcome, unread: 0 };
    const ended = outcome === undefined ? "" : `: ${renderOutcome(outcome, id)}`;
    if (!recent.unreported) return `unknown session ${id}; it has ended and its end was answered${ended}`;
    recent.unreported = false;
    return `session ${id} was ended to make room for another; ${describePlaces(this.#limits)}${ended}; ${unread} bytes of its output were dropped unread`;
  }

  /** Ended ones first; never one whose first call is under way, and one that a call waits for counts as just used. */
  #pickLeastUsed(client: string | undefined): Session {
    const sessions = this.list();
    const idle = sessions.filter(({ users }) => users === 0);
    const busy = sessions.filter(({ users }) => users > 0);
    const available = [...idle, ...busy]
      .slice(0, Math.max(0, this.#live.size - this.#limits.newestSessions))
      .filter(({ established }) => established);
    const largest = this.#findLargestShare(client);
    const share = available.filter((session) => session.client === largest);
    const candidates = share.length > 0 ? share : available;
    const picked = candidates.find(({ state }) => state.outcome.kind !== "running") ?? candidates[0];
    if (picked !== undefined) return picked;
    throw new ToolError(
      `no session can be started: ${describePlaces(this.#limits)} and none of them can be ended to make room; end one with kill_session or wait for one to end`,
    );
  }

  /** The client that has the most sessions; this one where none has more. */
  #findLargestShare(client: string | undefined): string | undefined {
    const sessions = this.list();
    const count = (one: string | undefined) => sessions.filter((session) => session.client === one).length;
    return sessions.reduce((largest, { client: one }) => (count(one) > count(largest) ? one : largest), client);
  }

  #remember(session: Session, unreported: boolean): void {
    const recent: Recent = { session, last: undefined, client: session.client, unreported };
    this.#recent.set(session.id, recent);
    if (!unreported && !session.wasCut) drop(recent);
    const retained = [...this.#recent.values()].filter((entry) => entry.session !== undefined);
    const idle = retained.filter((entry) => entry.session?.users === 0);
    for (const entry of idle.slice(0, Math.max(0, retained.length - this.#limits.retainedLogs))) drop(entry);
    for (const [id, entry] of this.#recent) {
      if (this.#recent.size <= this.#limits.recentSessions) break;
      drop(entry);
      this.#recent.delete(id);
      if (entry.last?.hasSent) this.leave(id);
    }
  }
}

/** Whether a session concerns a call for this client; a call for nobody in particular sees all. */
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
