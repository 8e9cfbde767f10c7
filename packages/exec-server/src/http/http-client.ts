import { RpcError } from "@codex/channel";
import type { BodyDelta, HttpHeader, HttpRequestParams } from "@codex/exec-server-protocol";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import { messageOf } from "@codex/values";
import { UNBUDGETED_BYTES } from "../limits.js";
import { Exchange, type ResponseHead } from "./exchange.js";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./limits.js";
import { prepareRequest } from "./prepare.js";
import { findHeader } from "./redirect.js";
import { loadSenders, type Senders } from "./send.js";

/** HTTP requests from this host, shared by all connections. */
export interface HttpClient {
  /** Creates the state of one connection, which the connection ends with `dispose`. */
  createConnectionHttp(options: ConnectionHttpOptions): ConnectionHttp;
}

/** Callbacks of one connection. */
export interface ConnectionHttpOptions {
  /**
   * Called with each piece of a streamed body, never before `request` has resolved. Awaited, so a slow client slows the
   * sending server down. A rejection ends the stream.
   */
  onBodyDelta(delta: BodyDelta): Promise<void>;
}

/** Response to a request, after redirects. */
export interface HttpResponse {
  status: number;
  headers: HttpHeader[];
  /** Empty if the body is streamed. */
  body: Buffer;
}

/** Options of one request. */
export interface HttpRequestOptions {
  /** Cancels the exchange including a streamed body, which then ends with an error. */
  signal?: AbortSignal;
  /**
   * Reserves memory for a body that is not streamed: awaited once, before more than UNBUDGETED_BYTES of it are read, with the most
   * bytes that it may have. Resolves as well when its signal aborts.
   */
  reserve?: (bytes: number, signal: AbortSignal) => Promise<void>;
}

/** The HTTP calls of one connection. */
export interface ConnectionHttp {
  /**
   * Sends a request. With `streamResponse` it resolves at the headers, and the body follows through `onBodyDelta`.
   * @throws RpcError -32602 for an invalid request, -32603 for a failed exchange
   */
  request(params: HttpRequestParams, options?: HttpRequestOptions): Promise<HttpResponse>;
  /** Ends the exchanges of this id: their requests reject, and their streamed bodies end with an error. False if there is none. */
  cancel(requestId: string): boolean;
  /** Ends every exchange; `onBodyDelta` is not called any more. Idempotent. */
  dispose(): void;
}

/** Options of `createHttpClient`. */
export interface HttpClientOptions {
  /** Environment that `valueEnvVar` refers to; default that of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Certificates in PEM that are trusted in addition to the default ones. */
  ca?: string;
  limits?: Partial<HttpLimits>;
}

/** Creates the HTTP client of a server. `node:http` is loaded at the first request. */
export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const { env = process.env } = options;
  const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  let loaded: Promise<Senders> | undefined;
  const senders = () => {
    loaded ??= loadSenders(options.ca);
    return loaded;
  };
  return {
    createConnectionHttp: ({ onBodyDelta }) => new Connection({ senders, env, limits, onBodyDelta }),
  };
}

interface Collaborators extends ConnectionHttpOptions {
  senders: () => Promise<Senders>;
  env: Readonly<Record<string, string | undefined>>;
  limits: HttpLimits;
}

class Connection implements ConnectionHttp {
  readonly #with: Collaborators;
  /** With their request ids; only those of streamed bodies are unique. */
  readonly #exchanges = new Map<Exchange, string>();
  readonly #streams = new Set<string>();
  #gone = false;

  constructor(collaborators: Collaborators) {
    this.#with = collaborators;
  }

  async request(params: HttpRequestParams, { signal, reserve }: HttpRequestOptions = {}): Promise<HttpResponse> {
    const prepared = prepareRequest(params, this.#with.env);
    const { exchange, end } = this.#begin(params, signal);
    try {
      const head = await exchange.send(prepared, params.redirectPolicy === "follow");
      if (params.streamResponse) {
        // Starts after the turn in which the caller gets the response.
        setImmediate(() => void this.#stream(exchange, params.requestId).finally(end));
        return { ...head, body: Buffer.alloc(0) };
      }
      const body = await this.#readWhole(exchange, head, reserve);
      end();
      return { ...head, body };
    } catch (error) {
      exchange.cancel("the exchange has failed");
      end();
      throw error;
    }
  }

  cancel(requestId: string): boolean {
    const found = [...this.#exchanges].filter(([, id]) => id === requestId);
    for (const [exchange] of found) exchange.cancel(CANCELLED);
    return found.length > 0;
  }

  dispose(): void {
    this.#gone = true;
    for (const exchange of this.#exchanges.keys()) exchange.cancel("the connection is gone");
  }

  /** Registers an exchange until `end`. */
  #begin({ requestId, streamResponse, timeoutMs }: HttpRequestParams, signal: AbortSignal | undefined) {
    const { senders, limits } = this.#with;
    if (this.#gone) throw new RpcError(ERROR_CODES.internal, "http/request failed: the connection is gone");
    if (this.#exchanges.size >= limits.maxExchanges) {
      const problem = `http/request was refused: ${limits.maxExchanges} requests are in progress, which is the limit`;
      throw new RpcError(ERROR_CODES.invalidRequest, problem);
    }
    if (streamResponse && this.#streams.has(requestId)) {
      const problem = `http/request streamResponse requestId \`${requestId}\` is already active`;
      throw new RpcError(ERROR_CODES.invalidParams, problem);
    }
    const exchange = new Exchange(senders, timeoutMs);
    this.#exchanges.set(exchange, requestId);
    if (streamResponse) this.#streams.add(requestId);
    const cancel = () => exchange.cancel(CANCELLED);
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted) cancel();
    const end = () => {
      signal?.removeEventListener("abort", cancel);
      exchange.end();
      this.#exchanges.delete(exchange);
      if (streamResponse) this.#streams.delete(requestId);
    };
    return { exchange, end };
  }

  async #readWhole(
    exchange: Exchange,
    { headers }: ResponseHead,
    reserve: HttpRequestOptions["reserve"],
  ): Promise<Buffer> {
    const { maxBufferedBodyBytes } = this.#with.limits;
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isReserved = false;
    for await (const chunk of exchange.readBody()) {
      bytes += chunk.length;
      if (bytes > maxBufferedBodyBytes) {
        const problem = `it is larger than the limit of ${maxBufferedBodyBytes} bytes; use streamResponse`;
        throw new RpcError(ERROR_CODES.internal, `failed to read http/request response body: ${problem}`);
      }
      chunks.push(chunk);
      if (bytes > UNBUDGETED_BYTES && !isReserved) {
        isReserved = true;
        const announced = Number(findHeader(headers, "content-length"));
        const isKnown = announced >= bytes && announced < maxBufferedBodyBytes;
        await reserve?.(isKnown ? announced : maxBufferedBodyBytes, exchange.signal);
      }
    }
    return Buffer.concat(chunks, bytes);
  }

  /** Never rejects: an error is reported in the last delta. */
  async #stream(exchange: Exchange, requestId: string): Promise<void> {
    let seq = 0;
    const sendDelta = async (bytes: Buffer, done: boolean, error: string | null) => {
      seq += 1;
      if (!this.#gone) await this.#with.onBodyDelta({ requestId, seq, bytes, done, error });
    };
    let problem: string | null = null;
    try {
      for await (const chunk of exchange.readBody()) await sendDelta(chunk, false, null);
    } catch (error) {
      exchange.cancel("the exchange has failed");
      problem = messageOf(error);
    }
    await sendDelta(Buffer.alloc(0), true, problem).catch(() => {});
  }
}

/** Reason in the errors of a cancelled exchange. */
const CANCELLED = "the request was cancelled";
