import type { ProcessOutcome } from "@codex/executor-protocol";

export interface ModelSession {
  id: number;
  outcome: ProcessOutcome;
  closed: boolean;
  /** Bytes written so far, and up to where they were answered. */
  end: number;
  cursor: number;
  /** An answer has told how it ended. */
  told: boolean;
  /** `place`: it can be called; `pruned`: it gave its place up, and can be called until its end was told; `gone`. */
  state: "place" | "pruned" | "gone";
}

/** What an answer must say. */
export interface Expected {
  from: number;
  to: number;
  outcome: ProcessOutcome;
  closed: boolean;
}

/** The sessions of an executor, as its documentation tells them; calls follow one after the other. */
export class SessionModel {
  /** In the order of their last use, the least recently used first. */
  readonly sessions: ModelSession[] = [];
  readonly #places: number;
  readonly #newest: number;

  constructor(limits: { places: number; newest: number }) {
    this.#places = limits.places;
    this.#newest = limits.newest;
  }

  get(id: number): ModelSession | undefined {
    return this.sessions.find((session) => session.id === id);
  }

  /** The one that gives up its place for another; "full" when none can; undefined when none has to. */
  pickPruned(): ModelSession | "full" | undefined {
    const placed = this.sessions.filter(({ state }) => state === "place");
    if (placed.length < this.#places) return undefined;
    const candidates = placed.slice(0, Math.max(0, placed.length - this.#newest));
    return candidates.find(({ outcome }) => outcome.kind !== "running") ?? candidates[0] ?? "full";
  }

  prune(session: ModelSession): void {
    session.state = "pruned";
    this.end(session, { kind: "signaled", signal: "SIGTERM", by: "prune" });
  }

  start(id: number): ModelSession {
    const session: ModelSession = {
      id,
      outcome: { kind: "running" },
      closed: false,
      end: 0,
      cursor: 0,
      told: false,
      state: "place",
    };
    this.sessions.push(session);
    return session;
  }

  end(session: ModelSession, outcome: ProcessOutcome): void {
    if (session.outcome.kind === "running") session.outcome = outcome;
    session.closed = true;
    this.settle(session);
  }

  canBeCalled(session: ModelSession): boolean {
    return session.state !== "gone";
  }

  /** An answer that covers everything so far. */
  answer(session: ModelSession): Expected {
    const expected = { from: session.cursor, to: session.end, outcome: session.outcome, closed: session.closed };
    session.cursor = session.end;
    session.told ||= session.outcome.kind !== "running";
    this.touch(session);
    return expected;
  }

  touch(session: ModelSession): void {
    this.sessions.splice(this.sessions.indexOf(session), 1);
    this.sessions.push(session);
    this.settle(session);
  }

  /** Its place is free once its end and all of its output were answered. */
  settle(session: ModelSession): void {
    if (session.told && session.closed && session.cursor === session.end) session.state = "gone";
  }
}
