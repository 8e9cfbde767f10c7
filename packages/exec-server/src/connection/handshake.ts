import { RpcError } from "@codex/channel";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import type { Session } from "../session/session.js";

/** Kinds of methods, as the errors name them. */
export type MethodFamily = "exec" | "filesystem" | "http" | "capability discovery" | `environment ${string}`;

/**
 * Enforces the order of a connection: `initialize`, then `initialized`, then everything else. Messages may be pipelined:
 * those that arrive while a session is being resumed wait for it, in the order of arrival.
 */
export class Handshake {
  readonly #join: (resumeSessionId: string | undefined) => Session | Promise<Session>;
  #session: Session | undefined;
  #isReady = false;
  /** Never rejects. */
  #resuming: Promise<void> | undefined;

  /** @param join creates a session or resumes one */
  constructor(join: (resumeSessionId: string | undefined) => Session | Promise<Session>) {
    this.#join = join;
  }

  /** @throws RpcError -32600 for a second `initialize`, or the reason why there is no session; it may be retried then */
  initialize(resumeSessionId: string | undefined): Session | Promise<Session> {
    return this.afterResume(() => {
      if (this.#session !== undefined) throw invalidState("initialize may only be sent once per connection");
      const joined = this.#join(resumeSessionId);
      if (!(joined instanceof Promise)) return this.#adopt(joined);
      const adopted = joined.then((session) => this.#adopt(session));
      this.#resuming = adopted.then(ignore, ignore);
      return adopted;
    });
  }

  /** Handles `initialized`: returns the session, or undefined without a successful `initialize`. Idempotent. */
  confirm(): Session | undefined {
    this.#isReady = this.#session !== undefined;
    return this.#session;
  }

  /** @throws RpcError -32600 before the handshake is complete */
  require(family: MethodFamily): Session {
    if (this.#session === undefined) throw invalidState(`client must call initialize before using ${family} methods`);
    if (!this.#isReady) throw invalidState(`client must send initialized before using ${family} methods`);
    return this.#session;
  }

  /** Runs `work` after a pending resume, and after everything that waits for it already. */
  afterResume<T>(work: () => T | Promise<T>): T | Promise<T> {
    const before = this.#resuming;
    // Kept after it has settled: a later message must not overtake those that still wait for it.
    if (before === undefined) return work();
    return before.then(() => (this.#resuming === before ? work() : this.afterResume(work)));
  }

  #adopt(session: Session): Session {
    this.#session = session;
    return session;
  }
}

const invalidState = (message: string): RpcError => new RpcError(ERROR_CODES.invalidRequest, message);

const ignore = (): void => {};
