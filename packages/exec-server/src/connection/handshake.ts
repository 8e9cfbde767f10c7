import { RpcError } from "@codex/channel";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import type { Session } from "../session/session.js";

/** Kinds of methods, as the errors name them. */
export type MethodFamily =
  | "exec"
  | "filesystem"
  | "http"
  | "environment info"
  | "environment status"
  | "environment config";

/**
 * The order of a connection: `initialize`, then `initialized`, then everything else. All of it may be pipelined: what
 * comes while a session is being resumed waits for it, in the order of arrival.
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

  /** @throws RpcError -32600 for a second one, or why the session is not to be had; it may be tried again then */
  initialize(resumeSessionId: string | undefined): Session | Promise<Session> {
    return this.inTurn(() => {
      if (this.#session !== undefined) throw invalidState("initialize may only be sent once per connection");
      const joined = this.#join(resumeSessionId);
      if (!(joined instanceof Promise)) return this.#adopt(joined);
      const adopted = joined.then((session) => this.#adopt(session));
      this.#resuming = adopted.then(ignore, ignore);
      return adopted;
    });
  }

  /** The session, or undefined when there was no successful `initialize`. A repeat changes nothing. */
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

  /** Runs `work` once nothing that came before it is being resumed. */
  inTurn<T>(work: () => T | Promise<T>): T | Promise<T> {
    const before = this.#resuming;
    // Kept after it is over: what comes now must not overtake what still waits for it.
    if (before === undefined) return work();
    return before.then(() => (this.#resuming === before ? work() : this.inTurn(work)));
  }

  #adopt(session: Session): Session {
    this.#session = session;
    return session;
  }
}

const invalidState = (message: string): RpcError => new RpcError(ERROR_CODES.invalidRequest, message);

const ignore = (): void => {};
