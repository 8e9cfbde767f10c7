import type { EnvironmentHttp } from "@codex/environments";
import type { FetchLike } from "@modelcontextprotocol/client";
import { HTTP_HANDSHAKE_MS } from "../limits.js";

/**
 * A `fetch` for `StreamableHTTPClientTransport` whose requests are made by the host of an environment. Resolves at the headers,
 * with the body as a stream. Requests of the MCP handshake end after 30 s, others never by themselves. Headers, also secret
 * ones, reach that host. An abort ends the wait here at once; the exec-server protocol has no message that ends an exchange, so
 * the host goes on with it until it is over or the connection to the host ends.
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
      ...(body === undefined ? {} : { body }),
      ...(isHandshake(body) ? { timeoutMs: HTTP_HANDSHAKE_MS } : {}),
      redirectPolicy: redirect === "follow" ? "follow" : "stop",
    });
    const answer = await unlessAborted(exchange, signal);
    const isRedirect = answer.status >= 300 && answer.status < 400 && answer.status !== 304;
    const hasBody = !BODYLESS.has(answer.status) && method.toUpperCase() !== "HEAD";
    if (!hasBody || (redirect === "error" && isRedirect)) discard(answer.body);
    if (redirect === "error" && isRedirect) throw new TypeError(`the answer is a redirect (status ${answer.status})`);
    return new Response(hasBody ? toWebStream(answer.body, signal) : null, {
      status: answer.status,
      headers: answer.headers.map(({ name, value }): [string, string] => [name, value]),
    });
  };
}

/** A response with one of these has no body. */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** As they are given: a list or an object keeps its order, `Headers` sorts. */
function listHeaders(headers: RequestInit["headers"]): { name: string; value: string }[] {
  const entries = headers === undefined ? [] : isIterable(headers) ? [...headers] : Object.entries(headers);
  return entries.map(([name, value]) => ({ name: String(name), value: String(value) }));
}

const isIterable = <T>(value: object | Iterable<T>): value is Iterable<T> => Symbol.iterator in value;

async function readBody(body: RequestInit["body"]): Promise<{ body?: Uint8Array; contentType: string | null }> {
  if (body === undefined || body === null) return { contentType: null };
  const whole = new Response(body);
  return { body: new Uint8Array(await whole.arrayBuffer()), contentType: whole.headers.get("content-type") };
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
/** Bytes above which a request is not looked into: those of a handshake are short. */
const HANDSHAKE_BYTES = 64 * 1024;

type Streamed = Awaited<ReturnType<EnvironmentHttp["stream"]>>;

/** An answer that comes after the abort is discarded. */
async function unlessAborted(exchange: Promise<Streamed>, signal: AbortSignal | null | undefined): Promise<Streamed> {
  if (signal == null) return exchange;
  let stopListening = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => {
      exchange.then(({ body }) => discard(body)).catch(() => {});
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    stopListening = () => signal.removeEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([exchange, aborted]);
  } finally {
    stopListening();
  }
}

function discard(body: AsyncIterable<Buffer>): void {
  void body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {});
}

/** Reads ahead nothing: what is not asked for stays with the connection, which holds the host back. */
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
