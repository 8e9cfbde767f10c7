import { waitUnlessAborted } from "@codex/clock";
import type { EnvironmentHttp } from "@codex/environments";
import { defined } from "@codex/values";
import type { FetchLike } from "@modelcontextprotocol/client";
import { HTTP_HANDSHAKE_MS } from "../limits.js";

/**
 * A `fetch` for `StreamableHTTPClientTransport` whose requests are made by the host of an environment. Resolves when the headers arrive,
 * with the body as a stream. Requests of the MCP handshake time out after 30 s, others do not. Headers, including secret
 * ones, are sent to that host. An abort ends the wait here immediately; for the exchange of the host see `RemoteHttpRequest.signal`.
 */
export function createEnvironmentFetch(http: Pick<EnvironmentHttp, "stream">): FetchLike {
  return async (url, init = {}) => {
    const { method = "GET", redirect = "follow", signal } = init;
    signal?.throwIfAborted();
    const { body, contentType } = await readBody(init.body);
    const headers = listHeaders(init.headers);
    if (contentType !== null && !headers.some(({ name }) => name.toLowerCase() === "content-type")) {
      headers.push({ name: "content-type", value: contentType });
    }
    const exchange = http.stream({
      method: method.toUpperCase(),
      url: String(url),
      headers,
      ...defined({ body }),
      ...(isHandshake(body) ? { timeoutMs: HTTP_HANDSHAKE_MS } : {}),
      redirectPolicy: redirect === "follow" ? "follow" : "stop",
      ...(signal == null ? {} : { signal }),
    });
    const response = await unlessAborted(exchange, signal);
    const isRedirect = response.status >= 300 && response.status < 400 && response.status !== 304;
    const hasBody = !BODYLESS.has(response.status) && method.toUpperCase() !== "HEAD";
    if (!hasBody || (redirect === "error" && isRedirect)) discard(response.body);
    if (redirect === "error" && isRedirect)
      throw new TypeError(`the response is a redirect (status ${response.status})`);
    return new Response(hasBody ? toWebStream(response.body, signal) : null, {
      status: response.status,
      headers: response.headers.map(({ name, value }): [string, string] => [name, value]),
    });
  };
}

/** A response with one of these has no body. */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** In the given order; only `Headers` objects are sorted. */
function listHeaders(headers: RequestInit["headers"]): { name: string; value: string }[] {
  const entries = headers === undefined ? [] : isIterable(headers) ? [...headers] : Object.entries(headers);
  return entries.map(([name, value]) => ({ name: String(name), value: String(value) }));
}

const isIterable = <T>(value: object | Iterable<T>): value is Iterable<T> => Symbol.iterator in value;

async function readBody(body: RequestInit["body"]): Promise<{ body?: Uint8Array; contentType: string | null }> {
  if (body === undefined || body === null) return { contentType: null };
  const complete = new Response(body);
  return { body: new Uint8Array(await complete.arrayBuffer()), contentType: complete.headers.get("content-type") };
}

function isHandshake(body: Uint8Array | undefined): boolean {
  if (body === undefined || body.length > HANDSHAKE_BYTES) return false;
  try {
    const message: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    const method = typeof message === "object" && message !== null && "method" in message ? message.method : undefined;
    return HANDSHAKE.some((name) => name === method);
  } catch {
    return false;
  }
}

const HANDSHAKE: readonly string[] = ["initialize", "notifications/initialized", "server/discover"];
/** Larger requests are not parsed: handshake requests are short. */
const HANDSHAKE_BYTES = 64 * 1024;

type Streamed = Awaited<ReturnType<EnvironmentHttp["stream"]>>;

/** A response that arrives after the abort is discarded. */
async function unlessAborted(exchange: Promise<Streamed>, signal: AbortSignal | null | undefined): Promise<Streamed> {
  if (signal == null) return exchange;
  const response = await waitUnlessAborted(signal, exchange);
  if (response !== undefined) return response;
  exchange.then(({ body }) => discard(body)).catch(() => {});
  throw signal.reason;
}

function discard(body: AsyncIterable<Buffer>): void {
  void body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {});
}

/** Does not read ahead: unread data stays in the connection, which applies back-pressure to the host. */
function toWebStream(body: AsyncIterable<Buffer>, signal: AbortSignal | null | undefined): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  const stop = () => void pieces.return?.().catch(() => {});
  let onAbort = () => {};
  const stopListening = () => signal?.removeEventListener("abort", onAbort);
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        onAbort = () => {
          controller.error(signal?.reason);
          stop();
        };
        signal?.addEventListener("abort", onAbort, { once: true });
      },
      async pull(controller) {
        try {
          const next = await pieces.next();
          if (signal?.aborted) return;
          if (next.done === true) {
            stopListening();
            controller.close();
          } else controller.enqueue(new Uint8Array(next.value));
        } catch (error) {
          stopListening();
          if (!signal?.aborted) controller.error(error);
        }
      },
      cancel() {
        stopListening();
        stop();
      },
    },
    { highWaterMark: 0 },
  );
}
