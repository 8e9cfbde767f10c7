import { RpcError } from "@codex/channel";
import { ERROR_CODES, METHODS, type WriteStatus } from "@codex/exec-server-protocol";
import type { TerminalSize } from "@codex/executor-protocol";
import {
  parseResponse,
  type ReadResponse,
  readResponse,
  type TerminateResponse,
  terminateResponse,
  writeResponse,
} from "../connection/responses.js";
import type { ProcessChannel } from "../events/process-channel.js";
import type { CallOptions, Calls } from "../session/calls.js";
import type { ClientSession } from "../session/client-session.js";

/** Signals of `process/signal`; Codex 0.169.0 supports only the first. */
export type WireSignal = "interrupt" | "terminate" | "hangup";

/**
 * The requests about one started process. Idempotent ones are repeated after a disconnect; writes are, with the same write
 * id. All reject with RpcError, and with ClientError `session_lost` once the session is lost.
 */
export class RunningProcess {
  readonly id: string;
  /** As reported by the server; undefined if it did not. */
  readonly sandboxType: string | undefined;
  readonly #calls: Calls;
  readonly #session: ClientSession;
  readonly #channel: ProcessChannel;
  /** Distinguishes its writes from those of a client that had the process before. */
  readonly #writePrefix: string;
  #writes = 0;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #lastResize: Promise<unknown> = Promise.resolve();

  constructor(
    sandboxType: string | undefined,
    calls: Calls,
    { session, channel }: { session: ClientSession; channel: ProcessChannel },
    writePrefix = "",
  ) {
    this.#writePrefix = writePrefix;
    this.id = channel.id;
    this.sandboxType = sandboxType;
    this.#calls = calls;
    this.#session = session;
    this.#channel = channel;
  }

  /** Drops its events from now on. */
  forget(): void {
    this.#session.unregister(this.#channel);
  }

  /**
   * Writes to stdin. Writes are sent one at a time, because a server with concurrent requests would not keep their order.
   * `accepted` from Codex 0.169.0 means queued, even if the program never reads. It queues 128 writes of a process; without
   * `--concurrent-requests` it then sends no more responses on the connection, `terminate` included, until the program reads or
   * ends.
   */
  write(bytes: Uint8Array): Promise<WriteStatus> {
    this.#writes += 1;
    const params = { chunk: Buffer.from(bytes).toString("base64"), writeId: `${this.#writePrefix}${this.#writes}` };
    const send = async () =>
      parseResponse(writeResponse, await this.#call(METHODS.processWrite, params), "process/write");
    const written = this.#lastWrite.then(send).then(({ status }) => status);
    this.#lastWrite = written.catch(() => {}); // reported to the caller
    return written;
  }

  async read(params: { afterSeq?: number; maxBytes?: number; waitMs?: number } = {}): Promise<ReadResponse> {
    const { afterSeq = 0, maxBytes = null, waitMs = 0 } = params;
    return parseResponse(
      readResponse,
      await this.#call(METHODS.processRead, { afterSeq, maxBytes, waitMs }),
      "process/read",
    );
  }

  /** Whether the server has no output or end of it that has not arrived. */
  async hasArrived(): Promise<boolean> {
    const { chunks } = await this.read({ afterSeq: this.#channel.position, maxBytes: 1 });
    return chunks.every(({ seq }) => seq <= this.#channel.position);
  }

  /** Not repeated: rejects with `connection_lost` if the response is lost. */
  async signal(signal: WireSignal): Promise<void> {
    await this.#call(METHODS.processSignal, { signal }, { idempotent: false });
  }

  /** Sends SIGKILL to the group; servers of this project send SIGTERM `graceMs` before. */
  async terminate(graceMs?: number): Promise<TerminateResponse> {
    const params = graceMs === undefined ? {} : { graceMs };
    const answer = parseResponse(
      terminateResponse,
      await this.#call(METHODS.processTerminate, params),
      "process/terminate",
    );
    return { ...answer, running: answer.running ?? false };
  }

  /** False if the server does not support it, which is tried once per session. */
  closeStdin(): Promise<boolean> {
    return this.#callIfKnown(METHODS.processCloseStdin, {});
  }

  /**
   * False if the server does not support it, which is tried once per session. Sent one at a time, so that a repeat after a
   * disconnect does not restore an older size.
   */
  resize({ rows, cols }: TerminalSize): Promise<boolean> {
    const resized = this.#lastResize.then(() => this.#callIfKnown(METHODS.processResize, { rows, cols }));
    this.#lastResize = resized.catch(() => {}); // reported to the caller
    return resized;
  }

  /** False if the server does not support the signal, which is tried once per session. */
  async signalIfKnown(signal: WireSignal): Promise<boolean> {
    const name = `${METHODS.processSignal} ${signal}`;
    return this.#ifKnown(name, ERROR_CODES.invalidParams, () => this.signal(signal));
  }

  #callIfKnown(method: string, params: Record<string, unknown>): Promise<boolean> {
    return this.#ifKnown(method, ERROR_CODES.methodNotFound, () => this.#call(method, params));
  }

  async #ifKnown(name: string, refusal: number, send: () => Promise<unknown>): Promise<boolean> {
    const { unsupported } = this.#session;
    if (unsupported.has(name)) return false;
    try {
      await send();
      return true;
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== refusal) throw error;
      unsupported.add(name);
      return false;
    }
  }

  #call(method: string, params: Record<string, unknown>, options: CallOptions = {}): Promise<unknown> {
    const session = this.#session;
    return this.#calls.call(
      method,
      { processId: this.id, ...params },
      { session, idempotent: true, unbounded: true, ...options },
    );
  }
}
