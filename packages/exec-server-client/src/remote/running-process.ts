import { RpcError } from "@codex/channel";
import { ERROR_CODES, METHODS, type WriteStatus } from "@codex/exec-server-protocol";
import type { TerminalSize } from "@codex/executor-protocol";
import {
  parseAnswer,
  type ReadAnswer,
  readAnswer,
  type TerminateAnswer,
  terminateAnswer,
  writeAnswer,
} from "../connection/answers.js";
import type { ProcessChannel } from "../events/process-channel.js";
import type { CallOptions, Calls } from "../session/calls.js";
import type { ClientSession } from "../session/client-session.js";

/** Signals of `process/signal`; Codex 0.169.0 knows the first alone. */
export type WireSignal = "interrupt" | "terminate" | "hangup";

/**
 * The requests about one process that was started. Those that may be repeated are sent again after a cut, with the
 * same write id. All reject with ClientError `session_lost` once the session is lost, and with RpcError.
 */
export class RunningProcess {
  readonly id: string;
  /** As the server told it; undefined when it did not. */
  readonly sandboxType: string | undefined;
  readonly #calls: Calls;
  readonly #session: ClientSession;
  readonly #channel: ProcessChannel;
  #writes = 0;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #lastResize: Promise<unknown> = Promise.resolve();

  constructor(
    sandboxType: string | undefined,
    calls: Calls,
    { session, channel }: { session: ClientSession; channel: ProcessChannel },
  ) {
    this.id = channel.id;
    this.sandboxType = sandboxType;
    this.#calls = calls;
    this.#session = session;
    this.#channel = channel;
  }

  /** Nothing more of its events is wanted. */
  forget(): void {
    this.#session.unregister(this.#channel);
  }

  /**
   * Writes to stdin. One write is under way at a time: a server that handles several requests at once would not keep
   * their order. `accepted` of Codex 0.169.0 means queued, also for a program that does not read any more. It queues
   * 128 writes of a process; started without `--concurrent-requests` it then answers nothing more on the connection,
   * `terminate` included, until the program reads or ends.
   */
  write(bytes: Uint8Array): Promise<WriteStatus> {
    this.#writes += 1;
    const params = { chunk: Buffer.from(bytes).toString("base64"), writeId: String(this.#writes) };
    const send = async () => parseAnswer(writeAnswer, await this.#call(METHODS.processWrite, params), "process/write");
    const written = this.#lastWrite.then(send).then(({ status }) => status);
    this.#lastWrite = written.catch(() => {}); // told whoever wrote it
    return written;
  }

  async read(params: { afterSeq?: number; maxBytes?: number; waitMs?: number } = {}): Promise<ReadAnswer> {
    const { afterSeq = 0, maxBytes = null, waitMs = 0 } = params;
    return parseAnswer(
      readAnswer,
      await this.#call(METHODS.processRead, { afterSeq, maxBytes, waitMs }),
      "process/read",
    );
  }

  /** A signal is not sent twice: when the answer is lost it rejects with `connection_lost`. */
  async signal(signal: WireSignal): Promise<void> {
    await this.#call(METHODS.processSignal, { signal }, { again: false });
  }

  /** SIGKILL to the group; servers of this project give it `graceMs` to end before. */
  async terminate(graceMs?: number): Promise<TerminateAnswer> {
    const params = graceMs === undefined ? {} : { graceMs };
    const answer = parseAnswer(
      terminateAnswer,
      await this.#call(METHODS.processTerminate, params),
      "process/terminate",
    );
    return { ...answer, running: answer.running ?? false };
  }

  /** False when the server cannot; it is asked once in a session. */
  closeStdin(): Promise<boolean> {
    return this.#callIfKnown(METHODS.processCloseStdin, {});
  }

  /**
   * False when the server cannot; it is asked once in a session. One is under way at a time: sent again after a cut, it is
   * the size that the terminal has or is to have next, and the program is told once.
   */
  resize({ rows, cols }: TerminalSize): Promise<boolean> {
    const resized = this.#lastResize.then(() => this.#callIfKnown(METHODS.processResize, { rows, cols }));
    this.#lastResize = resized.catch(() => {}); // told whoever asked
    return resized;
  }

  /** False when the server does not know this signal; it is asked once in a session. */
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
      { session, again: true, unbounded: true, ...options },
    );
  }
}
