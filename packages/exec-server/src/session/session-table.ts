import { randomUUID } from "node:crypto";
import { RPC_INVALID_REQUEST, RpcError } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import { DETACHED_SESSION_MS, ENDED_RETENTION_MS, MAX_ENDED_PROCESSES, MAX_SESSIONS } from "../limits.js";
import { type ServerTelemetry, shortId } from "../server-telemetry.js";
import { Retention } from "./retention.js";
import { Session, type SessionContent } from "./session.js";

/** Limits and collaborators of a session table. */
export interface SessionTableOptions {
  backend: ExecBackend;
  /** Milliseconds for which a session without a connection is retained. */
  detachedMs?: number;
  /** The same while it has processes, including ended ones that are still readable. Default: `detachedMs`. */
  busyDetachedMs?: number;
  maxSessions?: number;
  endedRetentionMs?: number;
  /** Ended processes of one session that stay readable. */
  maxEnded?: number;
  /** Bounds the output that all sessions retain. */
  retention?: Retention;
  newId?: () => string;
  /** Milliseconds on a clock that never goes back. */
  now?: () => number;
  telemetry: Pick<ServerTelemetry, "sessions" | "resumes" | "expiries" | "log">;
}

/** The connection that a session is attached to. */
export interface Holder {
  /** Resolves false when the client does not respond to a ping in time. */
  isAlive(): Promise<boolean>;
  /** Closes the connection, because the session was resumed by another one. */
  drop(reason: string): void;
}

interface Entry {
  session: Session;
  holder: Holder | undefined;
  /** Ends the session if it is not resumed. */
  expiry: NodeJS.Timeout | undefined;
  /** Time of creation, milliseconds of `now`. */
  readonly createdAt: number;
  /** How long its client was connected, from the creation to the last disconnect, milliseconds. */
  connectedMs: number;
}

/** The sessions of a server: created by a handshake, kept for `detachedMs` without a connection, then ended. */
export class SessionTable {
  readonly #options: Required<SessionTableOptions>;
  readonly #entries = new Map<string, Entry>();
  readonly #endings = new Set<Promise<void>>();
  #refusesStarts = false;

  constructor(options: SessionTableOptions) {
    const { detachedMs = DETACHED_SESSION_MS, busyDetachedMs = detachedMs } = options;
    this.#options = {
      detachedMs,
      busyDetachedMs,
      maxSessions: MAX_SESSIONS,
      maxEnded: MAX_ENDED_PROCESSES,
      retention: new Retention(),
      // An ended process stays readable as long as its client may resume the session.
      endedRetentionMs: Math.max(ENDED_RETENTION_MS, options.busyDetachedMs ?? 0),
      newId: randomUUID,
      now: () => performance.now(),
      ...options,
    };
  }

  get count(): number {
    return this.#entries.size;
  }

  /** Processes of all sessions that run. */
  get runningCount(): number {
    return Array.from(this.#entries.values(), ({ session }) => session.runningCount).reduce((sum, n) => sum + n, 0);
  }

  /** From now on no session is created, and none starts anything; what runs goes on. */
  refuseStarts(): void {
    this.#refusesStarts = true;
    for (const { session } of this.#entries.values()) session.refuseStarts();
  }

  /** @throws RpcError -32600 at the limit of sessions, and once it refuses starts */
  create(holder: Holder): Session {
    if (this.#refusesStarts) throw new RpcError(RPC_INVALID_REQUEST, "the exec-server is shutting down");
    const { backend, endedRetentionMs, maxEnded, retention, newId, now, maxSessions } = this.#options;
    if (this.#entries.size >= maxSessions && !this.#makeRoom()) {
      throw new RpcError(RPC_INVALID_REQUEST, `the limit of ${maxSessions} sessions is reached`);
    }
    const session = new Session({ id: newId(), backend, endedRetentionMs, maxEnded, retention });
    this.#entries.set(session.id, { session, holder, expiry: undefined, createdAt: now(), connectedMs: 0 });
    this.#options.telemetry.sessions.value += 1;
    return session;
  }

  /**
   * Attaches a session to a new connection, replacing one that does not respond.
   * @throws RpcError -32600 for an unknown id, -32010 while its current connection responds
   */
  async resume(sessionId: string, holder: Holder): Promise<Session> {
    const entry = this.#entries.get(sessionId);
    if (entry === undefined) throw new RpcError(RPC_INVALID_REQUEST, `unknown session id ${sessionId}`);
    const former = entry.holder;
    if (former !== undefined) {
      const alive = await former.isAlive();
      if (alive || (entry.holder !== undefined && entry.holder !== former)) {
        throw new RpcError(ERROR_CODES.sessionBusy, `session ${sessionId} is already attached to another connection`);
      }
      former.drop("the session was resumed by another connection");
      entry.session.detach();
    }
    if (!this.#entries.has(sessionId)) throw new RpcError(RPC_INVALID_REQUEST, `unknown session id ${sessionId}`);
    clearTimeout(entry.expiry);
    entry.expiry = undefined;
    entry.holder = holder;
    this.#options.telemetry.resumes.value += 1;
    return entry.session;
  }

  /** Called when a connection has ended. Does nothing if the session has another one. */
  release(session: Session, holder: Holder): void {
    const entry = this.#entries.get(session.id);
    if (entry?.holder !== holder) return;
    entry.holder = undefined;
    entry.connectedMs = this.#options.now() - entry.createdAt;
    session.detach();
    const { detachedMs, busyDetachedMs } = this.#options;
    const graceMs = session.content === "empty" ? detachedMs : busyDetachedMs;
    entry.expiry = setTimeout(() => this.#expire(session.id), graceMs);
    entry.expiry.unref();
  }

  /** Ends a session that cannot be resumed. Resolves when its processes are gone. */
  async end(session: Session): Promise<void> {
    if (this.#entries.get(session.id)?.session !== session) return;
    await this.#end(session.id);
  }

  /** Ends every session. Resolves when their processes are gone. */
  async close(): Promise<void> {
    for (const id of [...this.#entries.keys()]) void this.#end(id);
    await Promise.all(this.#endings);
  }

  /**
   * Ends a detached session: an empty one, or else one whose events are all delivered. Among equals the one whose client
   * was connected for the shortest time, which was probably a probe and not a client that will be back.
   */
  #makeRoom(): boolean {
    const waiting = [...this.#entries.values()].filter(({ holder }) => holder === undefined);
    const shortest = (content: SessionContent) =>
      waiting.filter(({ session }) => session.content === content).sort((a, b) => a.connectedMs - b.connectedMs)[0];
    const found = shortest("empty") ?? shortest("delivered");
    if (found === undefined) return false;
    const { id } = found.session;
    this.#options.telemetry.expiries.value += 1;
    this.#options.telemetry.log.info?.("session ended to make room", { session: shortId(id) });
    void this.#end(id);
    return true;
  }

  #expire(sessionId: string): void {
    const { expiries, log } = this.#options.telemetry;
    expiries.value += 1;
    log.warn?.("session expired: it was not resumed", { session: shortId(sessionId) });
    void this.#end(sessionId);
  }

  #end(sessionId: string): Promise<void> {
    const entry = this.#entries.get(sessionId);
    if (entry === undefined) return Promise.resolve();
    this.#entries.delete(sessionId);
    this.#options.telemetry.sessions.value -= 1;
    clearTimeout(entry.expiry);
    const ending = entry.session.close().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return ending;
  }
}
