import type { HttpHeader } from "@codex/exec-server-protocol";
import { METHODS, NOTIFICATIONS } from "@codex/exec-server-protocol";
import { defined } from "@codex/values";
import * as z from "zod/mini";
import { parseBase64, parseResponse } from "../connection/responses.js";
import { ClientError } from "../errors.js";
import { HttpBody } from "./http-body.js";
import { type HttpCalls, HttpExchange } from "./http-exchange.js";

/** A request that an exec-server makes from its host. */
export interface RemoteHttpRequest {
  /** Sent verbatim; default `GET`. */
  method?: string;
  url: string;
  /** `valueEnvVar` names a variable of the server's environment whose value is appended. */
  headers?: readonly (HttpHeader & { valueEnvVar?: string })[];
  body?: Uint8Array;
  /** Milliseconds for the whole exchange; none by default. */
  timeoutMs?: number;
  /** Default `follow`. */
  redirectPolicy?: "follow" | "stop";
  /**
   * Ends the exchange, even while its body is read: pending calls reject with the reason of the signal. The server ends it as well:
   * one of this project immediately, Codex 0.169.0 because such a request has a separate websocket. Over another connection to
   * Codex only the wait on this side ends.
   */
  signal?: AbortSignal;
}

/** The response to a request made by an exec-server. Status codes of failure are responses, not errors. */
export interface RemoteHttpResponse<Body> {
  status: number;
  headers: HttpHeader[];
  body: Body;
}

const responseSchema = z.object({
  status: z.int(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  bodyBase64: z.nullish(z.string()),
});
const bodyDelta = z.object({
  requestId: z.string(),
  seq: z.int(),
  deltaBase64: z.string(),
  done: z.boolean(),
  error: z.nullish(z.string()),
});

/**
 * HTTP from the host of an exec-server. A failed exchange rejects with RpcError -32603, one whose connection was lost with
 * ClientError `connection_lost`, one that was aborted with the reason of its signal. Requests are never repeated.
 */
export class RemoteHttp {
  readonly #calls: HttpCalls;
  #requests = 0;

  constructor(calls: HttpCalls) {
    this.#calls = calls;
  }

  /** The whole body in one message, which ends the connection at 64 MiB of base64: use `stream` for a body that may be long. */
  async request(request: RemoteHttpRequest): Promise<RemoteHttpResponse<Buffer>> {
    const requestId = this.#nextId();
    const params = { ...toParams(request), requestId, streamResponse: false };
    const exchange = new HttpExchange(this.#calls, requestId, request.signal);
    const response = await exchange.send(params);
    exchange.end();
    const { status, headers, bodyBase64 } = parseResponse(responseSchema, response, METHODS.httpRequest);
    return { status, headers, body: parseBase64(bodyBase64 ?? "", METHODS.httpRequest) };
  }

  /**
   * Streams the body to one reader. A reader that stops early discards the rest; one that never starts blocks the connection
   * once `HTTP_WINDOW_BYTES` and then `MAX_UNDELIVERED_BYTES` are buffered. Reading throws ClientError `connection_lost` when
   * the connection ends and `http_failed` when the server could not read the whole body.
   */
  async stream(request: RemoteHttpRequest): Promise<RemoteHttpResponse<AsyncIterable<Buffer>>> {
    const requestId = this.#nextId();
    const params = { ...toParams(request), requestId, streamResponse: true };
    let body: HttpBody | undefined;
    const exchange = new HttpExchange(this.#calls, requestId, request.signal, () => body?.cancel());
    try {
      const response = await exchange.send(params, (connection) => {
        const current = new HttpBody(() => stop(), request.signal);
        const stopListening = connection.listen({
          onNotification: (method, received) => takeDelta(current, exchange, requestId, method, received),
          onEnd: (error) => current.fail(error),
        });
        const stop = () => {
          stopListening();
          exchange.cancel();
        };
        body = current;
      });
      const { status, headers } = parseResponse(responseSchema, response, METHODS.httpRequest);
      return { status, headers, body: body! };
    } catch (error) {
      body?.cancel();
      throw error;
    }
  }

  #nextId(): string {
    this.#requests += 1;
    return `http-${this.#requests}`;
  }
}

function takeDelta(
  body: HttpBody,
  exchange: HttpExchange,
  requestId: string,
  method: string,
  params: unknown,
): Promise<void> | undefined {
  if (method !== NOTIFICATIONS.httpBodyDelta) return undefined;
  const delta = parseResponse(bodyDelta, params, method);
  if (delta.requestId !== requestId) return undefined;
  const taken = body.push(delta.seq, parseBase64(delta.deltaBase64, method));
  if (delta.done) exchange.end();
  if (typeof delta.error === "string") body.fail(new ClientError("http_failed", delta.error));
  else if (delta.done) body.end();
  return taken;
}

function toParams({
  method = "GET",
  url,
  headers = [],
  body,
  timeoutMs,
  redirectPolicy = "follow",
}: RemoteHttpRequest) {
  return {
    method,
    url,
    headers,
    bodyBase64: body === undefined ? null : Buffer.from(body).toString("base64"),
    redirectPolicy,
    ...defined({ timeoutMs }),
  };
}
