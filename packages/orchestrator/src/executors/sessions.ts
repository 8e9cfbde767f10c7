import type { SessionOwner } from "@codex/executor-client";
import type { ProcessOutcome } from "@codex/executor-protocol";

/** The known state of a session. `lost`: its executor is offline; whether it still runs is unknown. */
type SessionState =
  | { kind: "live" }
  | { kind: "ended"; outcome: ProcessOutcome | undefined }
  | { kind: "lost"; reason: string };

export interface Session {
  /** The id for the model: unique over all executors. */
  readonly id: number;
  /** The instance of the executor that created it. */
  readonly owner: SessionOwner;
  /** The client that started it; undefined for an orchestrator without several clients. */
  client: string | undefined;
  /** The executor's own id. */
  readonly processId: number;
  state: SessionState;
  /** Of the questions about its programs and hosts. */
  questionKey?: string;
  /** Number of the last received output chunk, and the offset after it. */
  lastSeq: number;
  lastOffset: number;
  /** Its end was reported to `onSessionExited`. */
  isExitReported: boolean;
  /** Sum of the windows of calls in progress, milliseconds: the executor runs the calls of one session one at a time. */
  pendingMs: number;
}

/**
 * Maps the session ids of all executors to ids that are unique for the model: the executor's own id if it is free, otherwise
 * the next free number.
 */
export class SessionTable {
  readonly #limit: number;
  readonly #byId = new Map<number, Session>();
  readonly #byProcess = new Map<SessionOwner, Map<number, Session>>();

  /** @param limit maximum number of sessions; ended and lost ones are forgotten for new ones, live ones never */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Why no further session may be started, as a sentence; undefined while there is room. */
  findExcess(): string | undefined {
    if (this.#byId.size < this.#limit || this.#findUnwanted() !== undefined) return undefined;
    return `${this.#byId.size} sessions are running (limit ${this.#limit} sessions); poll those that may have ended, or end some.`;
  }

  get(id: number): Session | undefined {
    return this.#byId.get(id);
  }

  find(owner: SessionOwner, processId: number): Session | undefined {
    return this.#byProcess.get(owner)?.get(processId);
  }

  /** The session with an executor's id, created if it is new. If it had ended, the executor has reused the id for a new one. */
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
    const unwanted = this.#byId.size > this.#limit ? this.#findUnwanted() : undefined;
    if (unwanted !== undefined) this.#forget(unwanted);
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

  /** Called when the executor was reconnected and has retained its sessions. */
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

  /** An ended one, else a lost one. */
  #findUnwanted(): Session | undefined {
    let lost: Session | undefined;
    for (const session of this.#byId.values()) {
      if (session.state.kind === "ended") return session;
      if (session.state.kind === "lost") lost ??= session;
    }
    return lost;
  }

  #forget(session: Session): void {
    this.#byId.delete(session.id);
    const own = this.#byProcess.get(session.owner);
    own?.delete(session.processId);
    if (own?.size === 0) this.#byProcess.delete(session.owner);
  }
}

/** The id at which the search for a free one continues after the largest. */
const FIRST_ID = 1000;
