import { RpcError } from "@codex/channel";
import { ERROR_CODES, METHODS } from "@codex/exec-server-protocol";
import type { Telemetry } from "@codex/telemetry";
import { messageOf } from "@codex/telemetry";
import { type ClientClock, systemClock, withDeadline } from "../clock.js";
import { Connection } from "../connection/connection.js";
import type { Connector } from "../connection/connector.js";
import { ClientError, isConnectionEnd } from "../errors.js";
import type { ProcessChannel } from "../events/process-channel.js";
import {
  FIRST_RETRY_MS,
  LONGEST_RETRY_MS,
  MAX_CONCURRENT_GAP_READS,
  MAX_QUICK_CUTS,
  QUICK_CUT_MS,
  RECOVERY_WINDOW_MS,
} from "../limits.js";
import { catchUp, fillGap } from "./catch-up.js";
import { ClientSession } from "./client-session.js";
import { createLinkTelemetry, type LinkTelemetry } from "./link-telemetry.js";

/** How a client introduces itself, and how it resumes a session whose connection was lost. */
export interface LinkOptions {
  /** Default `codex-ts`. */
  clientName?: string;
  initializeTimeoutMs?: number;
  /** Milliseconds after a cut within which the session is resumed. Default 45000. */
  recoveryWindowMs?: number;
  clock?: ClientClock;
  /** 0 to 1, for the pauses between two attempts. */
  random?: () => number;
  telemetry?: Telemetry | undefined;
  /** The connection was lost, and the session is looked for again. */
  onInterrupted?: () => void;
  /** The session was resumed. */
  onResumed?: () => void;
}

/** A connection and the session it carries. */
export interface Attached {
  session: ClientSession;
  connection: Connection;
}

type LinkState =
  | { kind: "idle" }
  | { kind: "opening"; done: Promise<Attached> }
  | ({ kind: "open" } & Attached)
  | { kind: "recovering"; session: ClientSession; done: Promise<void> }
  | { kind: "closed"; error: ClientError };

/**
 * Keeps one session reachable over connections that break: resumes it within a window, reads what was missed, and
 * opens a fresh one for whoever comes after a session that was lost.
 */
export class SessionLink {
  readonly #connector: Connector;
  readonly #options: LinkOptions;
  readonly #clock: ClientClock;
  readonly #telemetry: LinkTelemetry;
  readonly #abort = new AbortController();
  #state: LinkState = { kind: "idle" };
  #attachedAt = 0;
  #quickCuts = 0;

  constructor(connector: Connector, options: LinkOptions = {}) {
    this.#connector = connector;
    this.#options = options;
    this.#telemetry = createLinkTelemetry(options.telemetry ?? {});
    this.#clock = options.clock ?? systemClock;
  }

  get clock(): ClientClock {
    return this.#clock;
  }

  /** The present connection; undefined while there is none. */
  get attached(): Attached | undefined {
    return this.#state.kind === "open" ? this.#state : undefined;
  }

  /**
   * Waits for a recovery, opens a session where there is none. With `session` only that one will do.
   * @throws ClientError, or what opening a session throws
   */
  async ready(session?: ClientSession): Promise<Attached> {
    for (;;) {
      const state = this.#state;
      if (session?.lost !== undefined) throw session.lost;
      if (state.kind === "closed") throw state.error;
      if (state.kind === "open") return state;
      if (state.kind === "idle") this.#startOpening();
      if (state.kind === "opening") await state.done;
      if (state.kind === "recovering") await state.done;
    }
  }

  /** A connection has ended. Idempotent. */
  lose(connection: Connection): void {
    const state = this.#state;
    if (state.kind !== "open" || state.connection !== connection) return;
    void connection.close();
    const { session } = state;
    this.#telemetry.cut(session.id);
    if (!this.#connector.canReopen) {
      const error = new ClientError("closed", "the connection to the exec-server has ended");
      this.#state = { kind: "closed", error };
      this.#telemetry.lost(session.id, "the connection cannot be opened again");
      session.lose(new ClientError("session_lost", `${error.message}, and it cannot be opened again`));
      return;
    }
    this.#state = { kind: "recovering", session, done: this.#recover(session) };
    this.#options.onInterrupted?.();
  }

  /**
   * Waits for a recovery of a session that has processes, or starts nobody knows about: at most `ms` milliseconds. After
   * it they can be ended; before, the server would keep them until it gives the session up. Never rejects.
   */
  async settle(ms: number): Promise<void> {
    const state = this.#state;
    if (state.kind !== "recovering") return;
    if (state.session.live.length === 0 && state.session.orphans.length === 0) return;
    const late = () => new ClientError("closed", "the session was not resumed in time");
    await withDeadline({ clock: this.#clock, ms, late }, () => state.done).catch(() => {}); // then it is given up
  }

  /** Idempotent; never rejects. */
  async close(): Promise<void> {
    const state = this.#state;
    if (state.kind === "closed") return this.#connector.close?.();
    const error = new ClientError("closed", "the exec-server client was closed");
    this.#state = { kind: "closed", error };
    this.#abort.abort(error);
    if (state.kind === "open" || state.kind === "recovering") state.session.lose(error);
    if (state.kind === "open") await state.connection.close();
    if (state.kind === "opening" || state.kind === "recovering") await state.done.catch(() => {}); // told its callers
    await this.#connector.close?.();
  }

  #startOpening(): void {
    const done = this.#open();
    this.#state = { kind: "opening", done };
    done.catch(() => {
      if (this.#state.kind === "opening") this.#state = { kind: "idle" };
    });
  }

  async #open(): Promise<Attached> {
    const session = new ClientSession((of, channel) => this.#fillGap(of, channel));
    const connection = await this.#connect(session, this.#abort.signal);
    session.id = connection.sessionId;
    return this.#attach(session, connection);
  }

  #connect(session: ClientSession, signal: AbortSignal): Promise<Connection> {
    const { clientName = "codex-ts", initializeTimeoutMs } = this.#options;
    return Connection.open(this.#connector, {
      clientName,
      initializeTimeoutMs,
      clock: this.#clock,
      resumeSessionId: session.id,
      signal,
      onProcess: (notification) => session.receive(notification),
    });
  }

  #attach(session: ClientSession, connection: Connection): Attached {
    if (this.#state.kind === "closed") {
      void connection.close();
      throw this.#state.error;
    }
    const attached = { session, connection };
    this.#state = { kind: "open", ...attached };
    this.#attachedAt = this.#clock.now();
    void connection.ended.then(() => this.lose(connection));
    for (const channel of session.live) if (channel.hasGap) this.#fillGap(session, channel);
    return attached;
  }

  /** Ends with the session attached, or lost. Never rejects. */
  async #recover(session: ClientSession): Promise<void> {
    const windowMs = this.#options.recoveryWindowMs ?? RECOVERY_WINDOW_MS;
    const late = () => new ClientError("session_lost", `session was not resumed: no success within ${windowMs} ms`);
    try {
      await withDeadline({ clock: this.#clock, ms: windowMs, late, outer: this.#abort.signal }, (signal) =>
        this.#retryResume(session, signal),
      );
      this.#telemetry.resumed(session.id);
      this.#options.onResumed?.();
    } catch (error) {
      // Others wait for this promise: whoever of them asks for a session gets a fresh one.
      if (this.#state.kind !== "closed") this.#state = { kind: "idle" };
      const loss = toLoss(error);
      this.#telemetry.lost(session.id, loss.message);
      session.lose(loss);
    }
  }

  async #retryResume(session: ClientSession, signal: AbortSignal): Promise<void> {
    const random = this.#options.random ?? Math.random;
    const pause = (pauseMs: number) => this.#clock.sleep(pauseMs * (0.5 + random() / 2), signal);
    this.#quickCuts = this.#clock.now() - this.#attachedAt < QUICK_CUT_MS ? this.#quickCuts + 1 : 0;
    if (this.#quickCuts > MAX_QUICK_CUTS) await pause(LONGEST_RETRY_MS);
    for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_RETRY_MS)) {
      try {
        await this.#resume(session, signal);
        return;
      } catch (error) {
        if (signal.aborted || isFinal(error)) throw error;
      }
      await pause(pauseMs);
    }
  }

  async #resume(session: ClientSession, signal: AbortSignal): Promise<void> {
    const connection = await this.#connect(session, signal);
    const drop = () => void connection.close();
    signal.addEventListener("abort", drop);
    try {
      if (connection.sessionId !== session.id) {
        const got = `the exec-server answered with session \`${connection.sessionId}\``;
        throw new ClientError("session_lost", `session \`${session.id}\` was not resumed: ${got}`);
      }
      await endOrphans(session, connection);
      await catchUpAll(session.live, connection);
      if (signal.aborted) throw signal.reason;
      this.#attach(session, connection);
    } catch (error) {
      drop();
      throw error;
    } finally {
      signal.removeEventListener("abort", drop);
    }
  }

  /** While there is no connection nothing is done: the recovery reads everything anyway. */
  #fillGap(session: ClientSession, channel: ProcessChannel): void {
    const { attached } = this;
    if (attached?.session !== session) return;
    const send = (params: unknown) => attached.connection.request(METHODS.processRead, params);
    channel.filling = fillGap(channel, send)
      .catch(() => {}) // the connection has ended
      .finally(() => {
        channel.filling = undefined;
      });
  }
}

/** A process that a lost start may have begun is not wanted by anybody. */
const endOrphans = (session: ClientSession, connection: Connection): Promise<void> =>
  forEachOf(session.orphans, async (processId) => {
    await connection.request(METHODS.processTerminate, { processId }).catch((error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
    });
    session.deleteOrphan(processId);
  });

const catchUpAll = (channels: readonly ProcessChannel[], connection: Connection): Promise<void> =>
  forEachOf(channels, (channel) => catchUp(channel, (params) => connection.request(METHODS.processRead, params)));

/** A bounded number at once; rejects with the first failure. */
async function forEachOf<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const work = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_GAP_READS }, work));
}

/** The server has decided; trying again would not change it. A busy session is one whose old connection still ends. */
function isFinal(error: unknown): boolean {
  if (error instanceof ClientError) return error.code === "session_lost";
  if (!(error instanceof RpcError) || error.message.includes(BUSY_TEXT)) return false;
  return error.code === ERROR_CODES.invalidRequest;
}

/** What servers before the code -32010 said. */
const BUSY_TEXT = "is already attached to another connection";

function toLoss(error: unknown): ClientError {
  if (error instanceof ClientError) return error;
  const reason = isConnectionEnd(error) ? "the connection was lost" : messageOf(error);
  return new ClientError("session_lost", `session was not resumed: ${reason}`, { cause: error });
}
