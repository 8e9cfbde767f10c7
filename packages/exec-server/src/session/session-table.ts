import { randomUUID } from "node:crypto";
import { RPC_INVALID_REQUEST, RpcError } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import { DETACHED_SESSION_MS, ENDED_RETENTION_MS, MAX_ENDED_PROCESSES, MAX_SESSIONS } from "../limits.js";
import { type ServerTelemetry, shortId } from "../server-telemetry.js";
import { Retention } from "./retention.js";
import { Session, type SessionStake } from "./session.js";

export interface SessionTableOptions {
  backend: ExecBackend;
  /** Milliseconds a session without a connection lives. */
  detachedMs?: number;
  maxSessions?: number;
  endedRetentionMs?: number;
  /** Ended processes of one session that stay readable. */
  maxEnded?: number;
  /** Bounds the output that all sessions keep. */
  retention?: Retention;
  newId?: () => string;
  /** Milliseconds on a clock that never goes back. */
  now?: () => number;
  telemetry: Pick<ServerTelemetry, "sessions" | "resumes" | "expiries" | "log">;
}

/** What a session needs to know of the connection that holds it. */
export interface Holder {
  /** Asks whether the other side is still there; resolves false when it does not answer. */
  isAlive(): Promise<boolean>;
  /** Another connection takes the session over. */
  drop(reason: string): void;
}

interface Entry {
  session: Session;
  holder: Holder | undefined;
  /** Ends the session when nobody resumes it. */
  expiry: NodeJS.Timeout | undefined;
  /** Made at, and how long it was since then when the connection went, milliseconds. */
  readonly createdAt: number;
  age: number;
}

/** Error code of a session whose connection is still there; the official client tries again. */
const RPC_SESSION_BUSY = -32010;

/** The sessions of a server: made by a handshake, kept for a while without a connection, ended when never resumed. */
export class SessionTable {
  readonly #options: Required<SessionTableOptions>;
  readonly #entries = new Map<string, Entry>();
  readonly #endings = new Set<Promise<void>>();

  constructor(options: SessionTableOptions) {
    this.#options = {
      detachedMs: DETACHED_SESSION_MS,
      maxSessions: MAX_SESSIONS,
      maxEnded: MAX_ENDED_PROCESSES,
      retention: new Retention(),
      endedRetentionMs: ENDED_RETENTION_MS,
      newId: randomUUID,
      now: () => performance.now(),
      ...options,
    };
  }

  /** @throws RpcError -32600 at the limit of sessions */
  create(holder: Holder): Session {
    const { backend, endedRetentionMs, maxEnded, retention, newId, now, maxSessions } = this.#options;
    if (this.#entries.size >= maxSessions && !this.#makeRoom()) {
      throw new RpcError(RPC_INVALID_REQUEST, `the limit of ${maxSessions} sessions is reached`);
    }
    const session = new Session({ id: newId(), backend, endedRetentionMs, maxEnded, retention });
    this.#entries.set(session.id, { session, holder, expiry: undefined, createdAt: now(), age: 0 });
    this.#options.telemetry.sessions.value += 1;
    return session;
  }

  /**
   * Gives a session to a new connection. One whose holder does not answer any more is taken over.
   * @throws RpcError -32600 for an unknown id, -32010 while its connection is there
   */
  async resume(sessionId: string, holder: Holder): Promise<Session> {
    const entry = this.#entries.get(sessionId);
    if (entry === undefined) throw new RpcError(RPC_INVALID_REQUEST, `unknown session id ${sessionId}`);
    const former = entry.holder;
    if (former !== undefined) {
      const alive = await former.isAlive();
      if (alive || (entry.holder !== undefined && entry.holder !== former)) {
        throw new RpcError(RPC_SESSION_BUSY, `session ${sessionId} is already attached to another connection`);
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

  /** The connection is gone. Nothing happens when the session has another one by now. */
  release(session: Session, holder: Holder): void {
    const entry = this.#entries.get(session.id);
    if (entry?.holder !== holder) return;
    entry.holder = undefined;
    entry.age = this.#options.now() - entry.createdAt;
    session.detach();
    entry.expiry = setTimeout(() => this.#expire(session.id), this.#options.detachedMs);
    entry.expiry.unref();
  }

  /** Ends a session that nobody can resume. Resolves when its processes are gone. */
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
   * Ends a session that waits for its client and has nothing to lose, or else one whose processes are over and were told of
   * to the end. Of those alike the one whose client stayed shortest: a probe, and not a client that will be back.
   */
  #makeRoom(): boolean {
    const waiting = [...this.#entries.values()].filter(({ holder }) => holder === undefined);
    const shortest = (stake: SessionStake) =>
      waiting.filter(({ session }) => session.stake === stake).sort((a, b) => a.age - b.age)[0];
    const found = shortest("nothing") ?? shortest("told");
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
    log.warn?.("session expired: nobody resumed it", { session: shortId(sessionId) });
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
