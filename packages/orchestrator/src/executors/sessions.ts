import type { SessionOwner } from "@codex/executor-client";
import type { ProcessOutcome } from "@codex/executor-protocol";

/** What is known of a session. `lost`: its executor went away; whether it still runs is unknown. */
type SessionState =
  | { kind: "live" }
  | { kind: "ended"; outcome: ProcessOutcome | undefined }
  | { kind: "lost"; reason: string };

export interface Session {
  /** The id the model knows: unique over all executors. */
  readonly id: number;
  /** The executor that minted it, one connection (or resumed connection) of it. */
  readonly owner: SessionOwner;
  /** On whose behalf it was started; undefined where the orchestrator has one client. */
  client: string | undefined;
  /** The executor's own id. */
  readonly processId: number;
  state: SessionState;
  /** The last output chunk that was seen, and the offset behind it. */
  lastSeq: number;
  lastOffset: number;
  /** Its end was reported to `onSessionExited`. */
  isExitReported: boolean;
  /** Windows of the calls under way, milliseconds: the executor takes the calls of one session one after the other. */
  pendingMs: number;
}

/**
 * Session ids of all executors under ids that are unique for the model. An executor's own id is kept while it is free;
 * otherwise the next free number is given.
 */
export class SessionTable {
  readonly #limit: number;
  readonly #byId = new Map<number, Session>();
  readonly #byProcess = new Map<SessionOwner, Map<number, Session>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(id: number): Session | undefined {
    return this.#byId.get(id);
  }

  find(owner: SessionOwner, processId: number): Session | undefined {
    return this.#byProcess.get(owner)?.get(processId);
  }

  /** The session of an executor's id, made when it is new. An ended one lives again: its executor reused the id. */
  adopt(owner: SessionOwner, processId: number, client?: string): Session {
    const known = this.find(owner, processId);
    if (known !== undefined) {
      if (known.state.kind !== "live") {
        known.state = { kind: "live" };
        known.client = client;
        known.isExitReported = false;
      }
      return known;
    }
    const session: Session = {
      id: this.#freeId(processId),
      owner,
      client,
      processId,
      state: { kind: "live" },
      lastSeq: 0,
      lastOffset: 0,
      isExitReported: false,
      pendingMs: 0,
    };
    this.#byId.set(session.id, session);
    const own = this.#byProcess.get(owner) ?? new Map<number, Session>();
    this.#byProcess.set(owner, own.set(processId, session));
    if (this.#byId.size > this.#limit) this.#forget(this.#leastWanted(session));
    return session;
  }

  /** Sessions whose id here differs from the executor's own. */
  renamed(owner: SessionOwner): Session[] {
    return [...(this.#byProcess.get(owner)?.values() ?? [])].filter((session) => session.id !== session.processId);
  }

  live(owner: SessionOwner): Session[] {
    return [...(this.#byProcess.get(owner)?.values() ?? [])].filter((session) => session.state.kind === "live");
  }

  lose(owner: SessionOwner, reason: string): void {
    for (const session of this.live(owner)) session.state = { kind: "lost", reason };
  }

  /** The executor was reached again and kept its sessions. */
  restore(owner: SessionOwner): void {
    for (const session of this.#byProcess.get(owner)?.values() ?? []) {
      if (session.state.kind === "lost") session.state = { kind: "live" };
    }
  }

  #freeId(wanted: number): number {
    let id = wanted;
    while (this.#byId.has(id)) id = Number.isSafeInteger(id + 1) ? id + 1 : FIRST_ID;
    return id;
  }

  #leastWanted(newest: Session): Session {
    const others = [...this.#byId.values()].filter((session) => session !== newest);
    const ofKind = (kind: SessionState["kind"]) => others.find((session) => session.state.kind === kind);
    return ofKind("ended") ?? ofKind("lost") ?? ofKind("live") ?? newest;
  }

  #forget(session: Session): void {
    this.#byId.delete(session.id);
    const own = this.#byProcess.get(session.owner);
    own?.delete(session.processId);
    if (own?.size === 0) this.#byProcess.delete(session.owner);
  }
}

/** Where the search for a free id begins again after the largest number. */
const FIRST_ID = 1000;
