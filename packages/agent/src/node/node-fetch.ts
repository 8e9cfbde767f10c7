import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { type Duplex, pipeline, type Readable } from "node:stream";
import { createProxySend, type HttpProxy, openTunnel } from "@codex/http-proxy";
import type { ModelBody, ModelFetch, ModelResponse } from "../model/responses/model-fetch.js";

/** Bytes behind the last event that are still read, so that the connection can be used again. */
const MAX_REST_BYTES = 64 * 1024;
/** Time in which they have to come, milliseconds. */
const MAX_REST_MS = 1_000;

/**
 * Requests by `node:http`, over connections that are used again. The `fetch` of Node is loaded with its first call, which
 * takes some 50 ms; it also gives up by itself after five minutes without a byte, which this leaves to its caller.
 * @param http connections to addresses without TLS
 * @param proxy that all requests go through
 */
export function createNodeFetch(http = new HttpAgent({ keepAlive: true }), proxy?: HttpProxy): ModelFetch {
  const sendSecurely = lazySecureRequest(proxy);
  const sendPlainly = async (): Promise<Send> =>
    proxy === undefined
      ? (options, url) => httpRequest(url, { ...options, agent: http })
      : await createProxySend(proxy);
  return async (url, init) => {
    const send = await (new URL(url).protocol === "https:" ? sendSecurely() : sendPlainly());
    const attempt = () => exchange(send, url, init);
    return attempt().catch((error: unknown) => {
      // The endpoint closed a connection that was kept open, while this request was on its way.
      if (error instanceof StaleConnection) return attempt();
      throw error;
    });
  };
}

type Send = (options: object, url: string) => ClientRequest;

/** `node:https` is loaded for the first address that needs it. */
function lazySecureRequest(proxy: HttpProxy | undefined): () => Promise<Send> {
  let loaded: Promise<Send> | undefined;
  return () => {
    loaded ??= Promise.all([import("node:https"), import("node:tls")]).then(([{ Agent, request }, { connect }]) => {
      const agent = new Agent({ keepAlive: true });
      if (proxy !== undefined) {
        const open: Open = (options, onOpened) => {
          openTunnel(proxy, options.host, options.port).then(
            (socket) => onOpened(null, connect({ ...options, socket })),
            (error: Error) => onOpened(error),
          );
        };
        Object.assign(agent, { createConnection: open });
      }
      return (options, url) => request(url, { ...options, agent });
    });
    return loaded;
  };
}

/** How an agent of Node opens a connection. */
type Open = (
  options: { host: string; port: number; servername?: string },
  onOpened: (error: Error | null, socket?: Duplex) => void,
) => void;

class StaleConnection extends Error {}

function exchange(
  send: Send,
  url: string,
  { method, headers, body, signal }: Parameters<ModelFetch>[1],
): Promise<ModelResponse> {
  return new Promise((resolve, reject) => {
    const sent = send({ method, headers, signal }, url);
    sent.once("response", (message) => resolve(toResponse(message, signal)));
    sent.once("error", (error: Error & { code?: string }) => {
      const isStale = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(isStale && !signal.aborted ? new StaleConnection(error.message, { cause: error }) : error);
    });
    sent.end(body);
  });
}

function toResponse(message: IncomingMessage, signal: AbortSignal): ModelResponse {
  const status = message.statusCode ?? 0;
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: {
      get(name) {
        const value = message.headers[name.toLowerCase()];
        return Array.isArray(value) ? value.join(", ") : (value ?? null);
      },
    },
    body: toBody(message, signal),
  };
}

function toBody(message: IncomingMessage, signal: AbortSignal): ModelBody {
  const leave = () => {
    if (signal.aborted) message.destroy();
    else readRest(message);
  };
  return {
    cancel: async () => leave(),
    async *[Symbol.asyncIterator]() {
      const decoded = await decode(message);
      try {
        yield* decoded.iterator({ destroyOnReturn: false });
      } finally {
        leave();
      }
    },
  };
}

/** No encoding is asked for; some endpoints use one all the same. */
async function decode(message: IncomingMessage): Promise<Readable> {
  const encoding = message.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding === "identity") return message;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const decoder = encoding === "br" ? createBrotliDecompress() : createUnzip();
  return pipeline(message, decoder, () => {}); // who reads the decoder gets its error
}

/** A connection whose answer was read to its end serves the next request. Nothing waits for that. */
function readRest(message: IncomingMessage): void {
  if (message.destroyed || message.readableEnded) return;
  let rest = 0;
  const late = setTimeout(() => message.destroy(), MAX_REST_MS);
  late.unref();
  message.socket.unref();
  message.once("close", () => clearTimeout(late));
  message.on("error", () => {});
  message.on("data", (chunk: Uint8Array) => {
    rest += chunk.length;
    if (rest > MAX_REST_BYTES) message.destroy();
  });
}
