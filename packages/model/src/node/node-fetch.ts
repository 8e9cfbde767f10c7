import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { type Duplex, pipeline, type Readable } from "node:stream";
import { createProxySend, type HttpProxy, openTunnel } from "@codex/http-proxy";
import type { ModelBody, ModelFetch, ModelResponse } from "../responses/model-fetch.js";

/** Bytes read after the last event, so that the connection can be reused. */
const MAX_REST_BYTES = 64 * 1024;
/** Timeout for these bytes, milliseconds. */
const MAX_REST_MS = 1_000;

/**
 * Creates a `ModelFetch` on `node:http` with keep-alive. Unlike Node's `fetch` it needs no 50 ms to load, and has no timeout of
 * its own.
 * @param http agent for connections without TLS
 * @param proxy proxy for all requests
 * @param onSent called after each request was sent completely, before its response
 */
export function createNodeFetch(
  http = new HttpAgent({ keepAlive: true }),
  proxy?: HttpProxy,
  onSent?: () => void,
): ModelFetch {
  const sendSecurely = lazySecureRequest(proxy);
  const sendPlainly = async (): Promise<Send> =>
    proxy === undefined
      ? (options, url) => httpRequest(url, { ...options, agent: http })
      : await createProxySend(proxy);
  return async (url, init) => {
    const send = await (new URL(url).protocol === "https:" ? sendSecurely() : sendPlainly());
    const attempt = () => exchange(send, url, init, onSent);
    return attempt().catch((error: unknown) => {
      // The endpoint closed a kept-alive connection while the request was being sent.
      if (error instanceof StaleConnection) return attempt();
      throw error;
    });
  };
}

type Send = (options: object, url: string) => ClientRequest;

/** Loads `node:https` on first use. */
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

/** Signature of `createConnection` of an `Agent`. */
type Open = (
  options: { host: string; port: number; servername?: string },
  onOpened: (error: Error | null, socket?: Duplex) => void,
) => void;

class StaleConnection extends Error {}

function exchange(
  send: Send,
  url: string,
  init: Parameters<ModelFetch>[1],
  onSent: (() => void) | undefined,
): Promise<ModelResponse> {
  const { method, headers, signal, pieces = [init.body] } = init;
  const length = pieces.reduce((total, piece) => total + piece.length, 0);
  return new Promise((resolve, reject) => {
    const sent = send({ method, headers: { ...headers, "content-length": length }, signal }, url);
    sent.once("response", (message) => resolve(toResponse(message, signal)));
    sent.once("error", (error: Error & { code?: string }) => {
      const isStale = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      reject(isStale && !signal.aborted ? new StaleConnection(error.message, { cause: error }) : error);
    });
    if (onSent !== undefined) sent.once("finish", onSent);
    sent.cork();
    for (const piece of pieces) sent.write(piece);
    sent.end();
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

/** Some endpoints use a content encoding although none is requested. */
async function decode(message: IncomingMessage): Promise<Readable> {
  const encoding = message.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding === "identity") return message;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const decoder = encoding === "br" ? createBrotliDecompress() : createUnzip();
  return pipeline(message, decoder, () => {}); // the decoder's reader receives the error
}

/** Reads the rest of a response in the background, so that its connection can be reused. */
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
