import { METHODS } from "@codex/exec-server-protocol";
import { defined, messageOf } from "@codex/values";
import type { Connection } from "../connection/connection.js";
import { ClientError, isConnectionEnd } from "../errors.js";
import type { Calls } from "../session/calls.js";

/** What an exchange needs from its client. */
export type HttpCalls = Pick<Calls, "call" | "takeConnection" | "giveBack">;

/**
 * One `http/request`, until its response is complete or no longer needed. A server of this project is sent `http/cancel`; another one
 * ends an exchange with its connection, so a request with a signal has a separate connection where there can be several.
 */
export class HttpExchange {
  readonly #calls: HttpCalls;
  readonly #requestId: string;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;
  #shared: Connection | undefined;
  #own: Connection | undefined;
  #isOver = false;

  /** @param onAbort called when the signal aborts before the end */
  constructor(calls: HttpCalls, requestId: string, signal: AbortSignal | undefined, onAbort: () => void = () => {}) {
    this.#calls = calls;
    this.#requestId = requestId;
    // A signal of its own: otherwise all its listeners would be added to a signal that many requests share.
    this.#signal = signal === undefined ? undefined : AbortSignal.any([signal]);
    this.#onAbort = onAbort;
  }

  /**
   * @param onSend called right before the request is sent
   * @returns its result; rejects with the reason of the signal, or as `Calls.call`
   */
  async send(params: object, onSend: (connection: Connection) => void = () => {}): Promise<unknown> {
    const signal = this.#signal;
    signal?.throwIfAborted();
    signal?.addEventListener("abort", this.#abort, { once: true });
    try {
      this.#own = signal === undefined ? undefined : await this.#takeConnection(signal);
      return await (this.#own === undefined
        ? this.#sendShared(params, onSend)
        : this.#sendOwn(this.#own, params, onSend));
    } catch (error) {
      this.end();
      // Cancelling ends the connection: the error of the connection is not the cause.
      throw signal?.aborted ? signal.reason : error;
    }
  }

  /** Its response is complete. Idempotent, as is `cancel`; only the first call of the two counts. */
  end(): void {
    if (!this.#finish() || this.#own === undefined) return;
    this.#calls.giveBack(this.#own);
  }

  /** Its response is no longer needed: the server ends the exchange, if it can. */
  cancel(): void {
    if (!this.#finish()) return;
    if (this.#own !== undefined) void this.#own.close({ deadlineMs: 0 });
    else if (this.#shared?.serverInfo.httpCancel === true) {
      const params = { requestId: this.#requestId };
      this.#shared.request(METHODS.httpCancel, params).catch(() => {}); // it ends with the connection
    }
  }

  readonly #abort = (): void => {
    this.cancel();
    this.#onAbort();
  };

  /** False if it was over already. */
  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    return true;
  }

  /** Undefined: the request shares a connection. */
  async #takeConnection(signal: AbortSignal): Promise<Connection | undefined> {
    const connection = await this.#calls.takeConnection(signal);
    if (!signal.aborted) return connection;
    if (connection !== undefined) this.#calls.giveBack(connection);
    throw signal.reason;
  }

  #sendShared(params: object, onSend: (connection: Connection) => void): Promise<unknown> {
    return this.#calls.call(METHODS.httpRequest, params, {
      unbounded: true,
      ...defined({ signal: this.#signal }),
      onSend: ({ connection }) => {
        this.#shared = connection;
        onSend(connection);
      },
    });
  }

  async #sendOwn(connection: Connection, params: object, onSend: (connection: Connection) => void): Promise<unknown> {
    onSend(connection);
    try {
      return await connection.request(METHODS.httpRequest, params, this.#signal);
    } catch (error) {
      if (!isConnectionEnd(error)) throw error;
      const text = `the connection was lost before ${METHODS.httpRequest} was answered: ${messageOf(error)}`;
      throw new ClientError("connection_lost", text, { cause: error });
    }
  }
}
