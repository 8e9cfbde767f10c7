import { waitUnlessAborted } from "@codex/clock";
import type { TraceContext } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import type { Connection } from "../connection/connection.js";
import { ClientError, isConnectionEnd } from "../errors.js";
import { MAX_REQUESTS_IN_FLIGHT, MAX_SENDS } from "../limits.js";
import type { ClientSession } from "./client-session.js";
import { ConcurrencyLimit } from "./concurrency-limit.js";
import { RequestConnections } from "./request-connections.js";
import type { Attached, SessionLink } from "./session-link.js";

/** How a request is sent. */
export interface CallOptions {
  /** Requires this session; its loss rejects the call. */
  session?: ClientSession;
  /** The request may be repeated: it is sent again when its response was lost, at most `MAX_SENDS` times. */
  idempotent?: boolean;
  /** Not counted in `MAX_REQUESTS_IN_FLIGHT`: it may take long, or must not wait for others. */
  unbounded?: boolean;
  signal?: AbortSignal;
  /** Ends the wait for a turn and for a connection alone: it has no effect once the request was sent. */
  unsent?: AbortSignal;
  /** The trace that the request belongs to. */
  trace?: TraceContext | undefined;
  /** Called right before the request is sent, with the connection and session that carry it. */
  onSend?: (attached: Attached) => void;
}

/** Sends requests over the current connection. */
export class Calls {
  readonly link: SessionLink;
  readonly #others: RequestConnections;
  readonly #inFlight = new ConcurrencyLimit(MAX_REQUESTS_IN_FLIGHT);

  constructor(link: SessionLink) {
    this.link = link;
    this.#others = new RequestConnections((signal) => link.openAnother(signal));
  }

  /**
   * Rejects with RpcError (the error response), ClientError `connection_lost` (whether the server received the
   * request is not known), `session_lost` or `closed`, ChannelError when the request could not be sent, or the reason
   * of `signal`.
   */
  call(method: string, params: unknown, options: CallOptions = {}): Promise<unknown> {
    const { signal, ...sent } = options;
    if (options.unbounded === true) return this.#call(method, params, options);
    if (signal === undefined) return this.#inFlight.run(() => this.#call(method, params, options), signalsOf(options));
    // Sent without the signal: the server still works on a request that nobody waits for, so it keeps its place until the response.
    const unsent = AbortSignal.any(signalsOf(options));
    const inTurn = this.#inFlight.run(() => this.#call(method, params, { ...sent, unsent }), [unsent]);
    return rejectOnAbort(signal, inTurn);
  }

  async #call(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    for (let sends = 1; ; sends += 1) {
      const attached = await this.#ready(options);
      try {
        options.onSend?.(attached);
        return await attached.connection.request(method, params, options.signal, options.trace);
      } catch (error) {
        if (!isConnectionEnd(error)) throw error;
        this.link.lose(attached.connection);
        if (options.idempotent === true && sends < MAX_SENDS) continue;
        const text = `the connection to ${this.link.serverName} was lost before ${method} was answered: ${messageOf(error)}`;
        throw new ClientError("connection_lost", text, { cause: error });
      }
    }
  }

  /**
   * A connection for one HTTP request that may have to be cancelled; undefined where the shared one can cancel it, or no other can be
   * opened. Rejects as `call` does.
   */
  async takeConnection(signal: AbortSignal): Promise<Connection | undefined> {
    const { connection } = await this.#ready({ signal });
    if (connection.serverInfo.httpCancel) return undefined;
    return this.#others.take(signal).catch(() => undefined); // the request then shows whether the server can be reached
  }

  /** Returns a connection whose request has its whole response. */
  giveBack(connection: Connection): void {
    this.#others.giveBack(connection);
  }

  /** Closes the connections of single requests. Idempotent; never rejects. */
  close(): Promise<void> {
    return this.#others.close();
  }

  async #ready(options: CallOptions): Promise<Attached> {
    const ready = this.link.ready(options.session);
    const signals = signalsOf(options);
    if (signals.length === 0) return ready;
    const over = AbortSignal.any(signals);
    const attached = await waitUnlessAborted(over, ready);
    over.throwIfAborted();
    return attached!; // undefined only when the signal has aborted
  }
}

/** The result of `work`, or the reason of the signal, if that aborts first; the work then continues. */
async function rejectOnAbort(signal: AbortSignal, work: Promise<unknown>): Promise<unknown> {
  work.catch(() => {});
  const settled = await waitUnlessAborted(
    signal,
    work.then((result) => ({ result })),
  );
  if (settled === undefined) throw signal.reason;
  return settled.result;
}

/** What ends the wait for a turn and for a connection. */
const signalsOf = ({ signal, unsent }: CallOptions): AbortSignal[] =>
  [signal, unsent].filter((one) => one !== undefined);
