import type { ProcessOutcome, RecordedOutput } from "@codex/executor-protocol";
import type { LiveOutput, Orchestrator } from "@codex/orchestrator";
import { defined } from "@codex/values";
import {
  BOUND_EVERY_BYTES,
  FLOOD_BYTES,
  KEPT_OUTPUT_BYTES_IN_ALL,
  MAX_MARKED_CALLS,
  PUBLISH_FLOOD_MS,
  PUBLISH_OUTPUT_MS,
} from "../limits.js";
import type { SessionEntity } from "../wire/entities.js";
import type { Board } from "./board.js";
import { Feed } from "./feed.js";
import { readSession } from "./session-reader.js";
import { describeCommand } from "./text.js";

/** Facts known when a session is first seen. */
export interface SeenSession {
  readonly environment: string;
  readonly sessionId: number;
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly tty: boolean;
  readonly startedAt: number;
  readonly canType: boolean;
}

/** A shown session. */
export interface ShownSession {
  entity: SessionEntity;
  readonly feed: Feed;
  /** Calls that used it, for its recording. */
  readonly calls: { readonly at: number; readonly label: string }[];
}

/** The sessions of all environments, with their output. */
export class Sessions {
  readonly #orchestrator: Pick<Orchestrator, "callTool" | "listEnvironments">;
  readonly #board: Board;
  readonly #now: () => number;
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #byId = new Map<number, ShownSession>();
  readonly #current = new Map<string, ShownSession>();
  /** Sessions whose new output is not published yet. */
  readonly #grown = new Set<ShownSession>();
  /** Called before new output of a session is published. */
  onGrown: (session: ShownSession) => void = () => {};
  #growTimer: NodeJS.Timeout | undefined;
  #growDelay = PUBLISH_OUTPUT_MS;
  #isWatched = false;
  /** Received since the kept output was bounded. */
  #unbounded = 0;
  #ids = 0;

  constructor(
    orchestrator: Pick<Orchestrator, "callTool" | "listEnvironments">,
    board: Board,
    now: () => number,
    pause: (ms: number, signal: AbortSignal) => Promise<void>,
  ) {
    this.#orchestrator = orchestrator;
    this.#board = board;
    this.#now = now;
    this.#pause = pause;
  }

  get(id: number): ShownSession | undefined {
    return this.#byId.get(id);
  }

  /** By the orchestrator's session id. */
  find(environment: string, sessionId: number): ShownSession | undefined {
    return this.#current.get(`${sessionId} ${environment}`);
  }

  get running(): ShownSession[] {
    return [...this.#current.values()].filter(({ entity }) => entity.state === "running");
  }

  /** Finds the session, or starts to show it. */
  see(seen: SeenSession): ShownSession {
    return this.find(seen.environment, seen.sessionId) ?? this.#add(seen);
  }

  /** Adds output of a call. If its offset is back at the beginning, a new session has reused the id. */
  receive(seen: SeenSession, { offset, bytes, dropped }: LiveOutput): ShownSession {
    let session = this.see(seen);
    const isNew = offset === 0 && session.entity.state !== "running" && session.feed.isComplete;
    if (isNew) session = this.#add(seen);
    if (dropped !== undefined) session.feed.kept.reach(offset);
    this.append(session, offset, bytes);
    return session;
  }

  /** Adds output of a running session. This is called for every chunk: everything else is left to a timer. */
  append(session: ShownSession, offset: number, bytes: Uint8Array): void {
    session.feed.append(offset, bytes, this.#now());
    this.#unbounded += bytes.length;
    if (this.#unbounded >= BOUND_EVERY_BYTES) this.#boundKept(session);
    this.#grown.add(session);
    if (this.#isWatched) this.#growTimer ??= setTimeout(() => this.#publishGrown(), this.#growDelay).unref();
  }

  /** Whether a page is connected: without one, new output is not published. */
  setWatched(isWatched: boolean): void {
    this.#isWatched = isWatched;
    if (isWatched) this.#publishGrown();
  }

  #publishGrown(): void {
    clearTimeout(this.#growTimer);
    this.#growTimer = undefined;
    this.#growDelay = PUBLISH_OUTPUT_MS;
    for (const session of [...this.#grown]) {
      if (session.feed.kept.end - session.entity.end > FLOOD_BYTES) this.#growDelay = PUBLISH_FLOOD_MS;
      this.onGrown(session);
      this.change(session, {});
    }
  }

  change(session: ShownSession, part: Partial<SessionEntity>): void {
    this.#grown.delete(session);
    const end = Math.max(session.entity.end, session.feed.kept.end, part.end ?? 0);
    session.entity = { ...session.entity, ...part, end };
    this.#board.set(session.entity);
  }

  /** Records that a call uses the session. */
  mark({ calls }: ShownSession, label: string): void {
    if (calls.length < MAX_MARKED_CALLS) calls.push({ at: this.#now(), label });
  }

  end(session: ShownSession, outcome: ProcessOutcome): void {
    if (outcome.kind === "running" || session.entity.state !== "running") return;
    this.change(session, { ...describeEnd(outcome), ...exitCodeOf(outcome), endedAt: this.#now(), canType: false });
  }

  #add({ environment, sessionId, ...seen }: SeenSession): ShownSession {
    this.#ids += 1;
    const id = this.#ids;
    const place = { environment, sessionId };
    const feed = new Feed(id, {
      read: (request, signal) => readSession(this.#orchestrator, place, request, signal),
      learned: (output) => this.#learn(session, output),
      pause: this.#pause,
      now: this.#now,
    });
    const entity: SessionEntity = {
      ...{ kind: "session", id, ...place, ...seen },
      ...{ state: "running", outcome: "", isFailure: false, end: 0 },
    };
    const session: ShownSession = { entity, feed, calls: [] };
    this.#byId.set(id, session);
    this.#current.set(`${sessionId} ${environment}`, session);
    this.#board.set(entity);
    this.#forgetDropped();
    return session;
  }

  #learn(session: ShownSession, output: RecordedOutput): void {
    const { size, resizes, end, outcome, command } = output;
    const known = resizes.at(-1)?.size ?? session.entity.size ?? size;
    this.change(session, {
      end,
      ...defined({ size: known }),
      ...(session.entity.command === "" ? { command: describeCommand(command) } : {}),
    });
    this.#boundKept(session);
    if (output.closed) this.end(session, outcome);
  }

  close(): void {
    this.#publishGrown();
    for (const { feed } of this.#byId.values()) feed.close();
  }

  /** Removes sessions that the bounded board no longer shows. */
  #forgetDropped(): void {
    for (const [id, session] of this.#byId) {
      if (this.#board.get(`session ${id}`) !== undefined) continue;
      const { sessionId, environment } = session.entity;
      this.#byId.delete(id);
      this.#grown.delete(session);
      const key = `${sessionId} ${environment}`;
      if (this.#current.get(key) === session) this.#current.delete(key);
    }
  }

  /** Drops kept output: first of ended sessions, then of the oldest. */
  #boundKept(newest: ShownSession): void {
    this.#unbounded = 0;
    let bytes = 0;
    for (const { feed } of this.#byId.values()) bytes += feed.kept.bytes;
    if (bytes <= KEPT_OUTPUT_BYTES_IN_ALL) return;
    const others = [...this.#byId.values()].filter((session) => session !== newest);
    const order = [...others.filter(({ feed }) => feed.isComplete), ...others.filter(({ feed }) => !feed.isComplete)];
    for (const { feed } of order) {
      while (bytes > KEPT_OUTPUT_BYTES_IN_ALL && feed.kept.bytes > 0) {
        const before = feed.kept.bytes;
        feed.kept.dropOldest();
        bytes -= before - feed.kept.bytes;
      }
    }
  }
}

const exitCodeOf = (outcome: ProcessOutcome) => (outcome.kind === "exited" ? { exitCode: outcome.code } : {});

/** The outcome of a process in words. */
export function describeEnd(
  outcome: Exclude<ProcessOutcome, { kind: "running" }>,
): Pick<SessionEntity, "state" | "outcome" | "isFailure"> {
  switch (outcome.kind) {
    case "exited":
      return { state: "ended", outcome: `exit code ${outcome.code}`, isFailure: outcome.code !== 0 };
    case "signaled":
      return { state: "ended", outcome: `ended by ${outcome.signal} (${outcome.by})`, isFailure: true };
    case "failed_to_start":
      return { state: "ended", outcome: `did not start: ${outcome.reason}`, isFailure: true };
    case "lost":
      return { state: "lost", outcome: `lost: ${outcome.reason}`, isFailure: true };
  }
}
