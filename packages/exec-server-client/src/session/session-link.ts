import { findFinal, RpcError } from "@codex/channel";
import { type Clock, pause, systemClock, withDeadline } from "@codex/clock";
import { ERROR_CODES, METHODS } from "@codex/exec-server-protocol";
import type { Telemetry } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { Connection } from "../connection/connection.js";
import type { Connector } from "../connection/connector.js";
import { ClientError, isConnectionEnd } from "../errors.js";
import type { ProcessChannel } from "../events/process-channel.js";
import {
  FIRST_RETRY_MS,
  LONGEST_RETRY_MS,
  MAX_CONCURRENT_GAP_READS,
  MAX_QUICK_DISCONNECTS,
  QUICK_DISCONNECT_MS,
  RECOVERY_WINDOW_MS,
  RETRY_SHARE,
} from "../limits.js";
import { catchUp, fillGap } from "./catch-up.js";
import { ClientSession } from "./client-session.js";
import { createLinkTelemetry, type LinkTelemetry } from "./link-telemetry.js";

/** How a client introduces itself, and how it resumes a session whose connection was lost. */
export interface LinkOptions {
  /** Takes up a session that another client has left, instead of beginning one. */
  resumeSessionId?: string | undefined;
  /** Name of this client in the handshake; default `codex-ts`. */
  clientName?: string;
  /** The server in errors, such as "environment `gpu`". Default: "the exec-server". */
  serverName?: string | undefined;
  initializeTimeoutMs?: number;
  /** Milliseconds between two pings of the server, and until a connection counts as lost without a sign of life. Default 15000. */
  livenessMs?: number;
  /** Milliseconds after a disconnect within which the session can be resumed. Default 45000. */
  recoveryWindowMs?: number;
  clock?: Clock;
  /** Returns 0 to 1; jitter for the pauses between attempts to reconnect. */
  random?: () => number;
  telemetry?: Telemetry | undefined;
  /** Called when the connection was lost and the session is being resumed. Exceptions of this and the following listeners are ignored. */
  onInterrupted?: () => void;
  /** Called when the session was resumed. */
  onResumed?: () => void;
  /** Called when the session was lost, with its processes; the next call opens a new one where the connector can. */
  onLost?: (reason: ClientError) => void;
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
 * Keeps a session across disconnects: resumes it within a window, reads the missed events, and opens a new session for
 * calls that come after one was lost.
 */
export class SessionLink {
  readonly #connector: Connector;
  readonly #options: LinkOptions;
  readonly #clock: Clock;
  readonly #telemetry: LinkTelemetry;
  readonly #abort = new AbortController();
  #state: LinkState = { kind: "idle" };
  #attachedAt = 0;
  #quickDisconnects = 0;

  constructor(connector: Connector, options: LinkOptions = {}) {
    this.#connector = connector;
    this.#options = options;
    this.#telemetry = createLinkTelemetry(options.telemetry ?? {});
    this.#clock = options.clock ?? systemClock;
  }

  get clock(): Clock {
    return this.#clock;
  }

  /** The server in errors. */
  get serverName(): string {
    return this.#options.serverName ?? "the exec-server";
  }

  /** The current connection; undefined while there is none. */
  get attached(): Attached | undefined {
    return this.#state.kind === "open" ? this.#state : undefined;
  }

  /**
   * Resolves with the current connection: waits for a recovery, or opens a session. With `session`, rejects if it was lost.
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

  /**
   * Opens another connection, with a separate session without processes; undefined where the connector cannot. The caller
   * owns it. Rejects as `Connection.open`.
   */
  openAnother(signal: AbortSignal): Promise<Connection> | undefined {
    if (this.#connector.canOpenSeveral !== true) return undefined;
    return this.#connect(new ClientSession(() => {}), AbortSignal.any([signal, this.#abort.signal]));
  }

  /** Called when a connection has ended: starts the recovery. Idempotent. */
  lose(connection: Connection): void {
    const state = this.#state;
    if (state.kind !== "open" || state.connection !== connection) return;
    void connection.close();
    const { session } = state;
    this.#telemetry.disconnected(session.id);
    if (!this.#connector.canReopen) {
      const error = new ClientError("closed", `the connection to ${this.serverName} has ended`);
      this.#state = { kind: "closed", error };
      this.#telemetry.lost(session.id, "the connection cannot be opened again");
      const loss = new ClientError("session_lost", `${error.message}, and it cannot be opened again`);
      session.lose(loss);
      notify(() => this.#options.onLost?.(loss));
      return;
    }
    this.#state = { kind: "recovering", session, done: this.#recover(session) };
    notify(() => this.#options.onInterrupted?.());
  }

  /**
   * Waits at most `ms` milliseconds for the recovery of a session that has processes or unanswered starts. Afterwards they
   * can be terminated; otherwise the server would keep them until the session expires. Never rejects.
   */
  async settle(ms: number): Promise<void> {
    const state = this.#state;
    if (state.kind !== "recovering") return;
    if (state.session.live.length === 0 && state.session.orphans.length === 0) return;
    const createError = () => new ClientError("closed", "the session was not resumed in time");
    await withDeadline({ clock: this.#clock, ms, createError }, () => state.done).catch(() => {}); // then they are left to the server
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
    if (state.kind === "opening" || state.kind === "recovering") await state.done.catch(() => {}); // reported to its callers
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
    session.id = this.#options.resumeSessionId;
    const connection = await this.#connect(session, this.#abort.signal);
    session.id = connection.sessionId;
    return this.#attach(session, connection);
  }

  #connect(session: ClientSession, signal: AbortSignal): Promise<Connection> {
    const { clientName = "codex-ts", initializeTimeoutMs, livenessMs } = this.#options;
    return Connection.open(this.#connector, {
      clientName,
      serverName: this.serverName,
      initializeTimeoutMs,
      livenessMs,
      clock: this.#clock,
      resumeSessionId: session.id,
      signal,
      onProcess: (notification) => session.receive(notification),
      onNetworkRequest: (params, asking) => session.answerNetworkRequest(params, asking),
      onNetworkDecision: (params) => session.noteNetworkDecision(params),
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

  /** Resolves when the session is attached again or lost. Never rejects. */
  async #recover(session: ClientSession): Promise<void> {
    const windowMs = this.#options.recoveryWindowMs ?? RECOVERY_WINDOW_MS;
    const { serverName } = this;
    const createError = () =>
      new ClientError(
        "session_lost",
        `the session with ${serverName} was not resumed: no success within ${windowMs} ms`,
      );
    try {
      await withDeadline({ clock: this.#clock, ms: windowMs, createError, signal: this.#abort.signal }, (signal) =>
        this.#retryResume(session, signal),
      );
      this.#telemetry.resumed(session.id);
      notify(() => this.#options.onResumed?.());
    } catch (error) {
      // Before callers that wait for this promise continue: the next call opens a new session.
      const isOurs = this.#state.kind === "closed";
      if (!isOurs) this.#state = { kind: "idle" };
      const loss = toLoss(error, serverName);
      this.#telemetry.lost(session.id, loss.message);
      session.lose(loss);
      if (!isOurs) notify(() => this.#options.onLost?.(loss));
    }
  }

  async #retryResume(session: ClientSession, signal: AbortSignal): Promise<void> {
    const random = this.#options.random ?? Math.random;
    const pauseFor = (ms: number) => pause(this.#clock, ms * (0.5 + random() / 2), signal);
    this.#quickDisconnects =
      this.#clock.now() - this.#attachedAt < QUICK_DISCONNECT_MS ? this.#quickDisconnects + 1 : 0;
    if (this.#quickDisconnects > MAX_QUICK_DISCONNECTS) await pauseFor(LONGEST_RETRY_MS);
    const since = this.#clock.now();
    for (;;) {
      try {
        await this.#resume(session, signal);
        return;
      } catch (error) {
        if (signal.aborted || isPermanent(error)) throw error;
      }
      const outageMs = this.#clock.now() - since;
      await pauseFor(Math.min(LONGEST_RETRY_MS, Math.max(FIRST_RETRY_MS, outageMs * RETRY_SHARE)));
    }
  }

  async #resume(session: ClientSession, signal: AbortSignal): Promise<void> {
    const connection = await this.#connect(session, signal);
    const drop = () => void connection.close();
    signal.addEventListener("abort", drop);
    try {
      if (connection.sessionId !== session.id) {
        const detail = `${this.serverName} responded with session \`${connection.sessionId}\``;
        throw new ClientError("session_lost", `session \`${session.id}\` was not resumed: ${detail}`);
      }
      // At once: while the session had no connection, the output of its processes may have been evicted, and still is.
      await Promise.all([catchUpAll(session.live, connection), endOrphans(session, connection)]);
      if (signal.aborted) throw signal.reason;
      this.#attach(session, connection);
    } catch (error) {
      drop();
      throw error;
    } finally {
      signal.removeEventListener("abort", drop);
    }
  }

  /** Does nothing without a connection: the recovery reads all missed events. */
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

/** Calls a listener of the caller, whose exceptions must not affect the connection. */
function notify(listener: () => void): void {
  try {
    listener();
  } catch {
    // It is not an error of the server.
  }
}

/** Terminates processes that may have been started by requests whose response was lost. */
const endOrphans = (session: ClientSession, connection: Connection): Promise<void> =>
  forEachOf(session.orphans, async (processId) => {
    await connection.request(METHODS.processTerminate, { processId }).catch((error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
    });
    session.deleteOrphan(processId);
  });

const catchUpAll = (channels: readonly ProcessChannel[], connection: Connection): Promise<void> =>
  forEachOf(channels, (channel) => catchUp(channel, (params) => connection.request(METHODS.processRead, params)));

/** Runs `run` for each item, a bounded number concurrently; rejects with the first failure. */
async function forEachOf<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const work = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_GAP_READS }, work));
}

/** Whether the server refused the resume permanently. A busy session is not refused: its previous connection is still closing. */
function isPermanent(error: unknown): boolean {
  if (findFinal(error) !== undefined) return true;
  if (error instanceof ClientError) return error.code === "session_lost";
  return error instanceof RpcError && error.code === ERROR_CODES.invalidRequest;
}

function toLoss(error: unknown, serverName: string): ClientError {
  if (error instanceof ClientError) return error;
  const final = findFinal(error);
  const reason = final?.message ?? (isConnectionEnd(error) ? "the connection was lost" : messageOf(error));
  return new ClientError("session_lost", `the session with ${serverName} was not resumed: ${reason}`, { cause: error });
}
