import type { IncomingMessage } from "node:http";
import { RpcError } from "@codex/channel";
import type { HttpHeader } from "@codex/exec-server-protocol";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import { MAX_TIMER_MS } from "../limits.js";
import { displayUrl, type PreparedRequest } from "./prepare.js";
import { findHeader, resolveRedirect } from "./redirect.js";
import { readHeaders, type Senders, sendRequest } from "./send.js";

/** Status and headers of a response. */
export interface ResponseHead {
  status: number;
  headers: HttpHeader[];
}

/** One request with its redirects, until the end of the response body. Ends early at its time limit or by `cancel`. */
export class Exchange {
  readonly #senders: () => Promise<Senders>;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #response: IncomingMessage | undefined;

  /** @param timeoutMs for the whole exchange, counted from here */
  constructor(senders: () => Promise<Senders>, timeoutMs: number | undefined) {
    this.#senders = senders;
    if (timeoutMs === undefined || timeoutMs > MAX_TIMER_MS) return;
    const expire = () => this.cancel(`timed out after ${timeoutMs} ms`);
    if (timeoutMs === 0) expire();
    else this.#timer = setTimeout(expire, timeoutMs);
  }

  /** Aborts when the exchange is cancelled or its time is up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the exchange: pending calls reject with the first reason. */
  cancel(reason: string): void {
    this.#controller.abort(new Cancelled(reason));
    this.#response?.destroy();
    this.end();
  }

  /** Frees the timer of a finished exchange. Idempotent. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** Sends the request and follows redirects. @throws RpcError -32603 */
  async send(first: PreparedRequest, follow: boolean): Promise<ResponseHead> {
    let request = first;
    for (let followed = 0; ; followed += 1) {
      const response = await this.#sendOnce(request);
      const answer = { status: response.statusCode ?? 0, headers: readHeaders(response) };
      const location = follow ? findHeader(answer.headers, "location") : undefined;
      const redirect = resolveRedirect(request, answer.status, location, followed);
      if (redirect.kind === "stay") {
        this.#response = response;
        return answer;
      }
      response.destroy();
      if (redirect.kind === "refuse") throw internal(`http/request failed: ${redirect.problem}`);
      request = redirect.request;
    }
  }

  /** The response body as it arrives, at the pace of the consumer. @throws RpcError -32603 */
  async *readBody(): AsyncGenerator<Buffer> {
    try {
      this.#controller.signal.throwIfAborted();
      if (this.#response !== undefined) yield* this.#response as AsyncIterable<Buffer>;
      this.#controller.signal.throwIfAborted();
    } catch (error) {
      throw internal(`failed to read http/request response body: ${this.#reasonOf(error)}`, error);
    }
  }

  async #sendOnce(request: PreparedRequest): Promise<IncomingMessage> {
    try {
      this.#controller.signal.throwIfAborted();
      return await sendRequest(request, await this.#senders(), this.#controller.signal);
    } catch (error) {
      const problem = `error sending request for url (${displayUrl(request.url)}): ${this.#reasonOf(error)}`;
      throw internal(`http/request failed: ${problem}`, error);
    }
  }

  #reasonOf(error: unknown): string {
    const { aborted, reason } = this.#controller.signal;
    return aborted && reason instanceof Cancelled ? reason.message : describe(error);
  }
}

class Cancelled extends Error {}

const internal = (message: string, cause?: unknown): RpcError =>
  new RpcError(ERROR_CODES.internal, message, cause === undefined ? {} : { cause });

/** Describes an error; a host with several addresses fails with an AggregateError of one error for each. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(describe))].join("; ");
  if (!(error instanceof Error)) return String(error);
  const [message = ""] = error.message.split("\n", 1); // TLS errors have several lines
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return message.includes(code) ? message : `${message} (${code})`;
}
