import type { IncomingMessage, ServerResponse } from "node:http";
import { answerPage, type Page } from "@codex/channel";
import { type Clock, systemClock, waitAtMost } from "@codex/clock";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { type AuthInfo, createMcpHandler, isLegacyRequest, type McpHttpHandler } from "@modelcontextprotocol/server";
import { LAST_RESPONSES_MS, MAX_BODY_BYTES, MAX_HTTP_REQUESTS } from "../limits.js";
import type { McpServers } from "../mcp-servers.js";
import { followResponse, refuse } from "./exchange.js";
import { type ClientToken, createAuthenticator, findHeaderProblem } from "./guard.js";
import { LegacySessions } from "./legacy-sessions.js";

/** Who may connect over HTTP, and where. */
export interface McpHttpOptions {
  /** Only requests with one of these bearer tokens are served; a function is asked at each. Default: all requests, as one client. */
  tokens?: readonly ClientToken[] | (() => readonly ClientToken[]);
  /** Accepted in `Host` in addition to loopback names and the address of the connection; without ports. */
  allowedHosts?: readonly string[];
  /** Default `/mcp`. */
  path?: string;
  /** Pages to read with GET, by path, for requests that may be served. */
  pages?: ReadonlyMap<string, () => Page>;
  /** Called with errors that no client is informed of. */
  onError?: (error: Error) => void;
  /** Called with each request that may be served, before that. */
  onAdmitted?: (request: IncomingMessage) => void;
  clock?: Clock;
}

/** Streamable HTTP for the servers of an orchestrator. */
export interface McpHttpServer {
  /** Answers one request of `node:http` or `node:https`. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends all MCP sessions and streams, and waits shortly until the last responses are written. The servers stay open. */
  close(): Promise<void>;
}

/** The name of the client if there are no tokens. */
const ANYBODY = "http";

/**
 * Serves revisions 2024-10-07 to 2026-07-28 over Streamable HTTP. A client is what a token identifies; up to revision 2025-11-25 each
 * MCP session is one of its own, and its terminal sessions end with it.
 *
 * ```ts
 * const http = createMcpHttpServer(createMcpServers(orchestrator), { tokens: [{ token, client: "laptop" }] });
 * createServer((request, response) => http.handle(request, response)).listen(8080, "127.0.0.1");
 * ```
 */
export function createMcpHttpServer(servers: McpServers, options: McpHttpOptions = {}): McpHttpServer {
  const {
    tokens,
    allowedHosts = [],
    path = "/mcp",
    onError = () => {},
    onAdmitted,
    clock = systemClock,
    pages,
  } = options;
  const legacy = new LegacySessions(servers, clock);
  /** One for each client: the events of a client must not reach others. */
  const modern = new Map<string, McpHttpHandler>();
  const authenticate = tokens === undefined ? undefined : createAuthenticator(tokens);
  const serve = toNodeHandler({ fetch: answer }, { onerror: onError, maxRequestBodySize: MAX_BODY_BYTES });
  let open = 0;
  let onClosed = () => {};

  const modernFor = (client: string): McpHttpHandler => {
    const known = modern.get(client);
    if (known !== undefined) return known;
    const handler = createMcpHandler((context) => servers.create(context, client), {
      legacy: "reject",
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror: onError,
    });
    servers.onToolsChanged(() => handler.notify.toolsChanged());
    modern.set(client, handler);
    return handler;
  };

  async function answer(request: Request, { authInfo }: { authInfo?: AuthInfo } = {}): Promise<Response> {
    const client = authInfo?.clientId ?? ANYBODY;
    if (await isLegacyRequest(request, undefined, { maxRequestBodySize: MAX_BODY_BYTES })) {
      return legacy.serve(request, client, authInfo);
    }
    const handler = modernFor(client);
    const stop = await watchListened(request, (uris) => {
      return servers.watch(client, uris, (uri) => handler.notify.resourceUpdated(uri));
    });
    const response = await handler.fetch(request, authInfo === undefined ? {} : { authInfo });
    return stop === undefined ? response : followResponse(response, request.signal, stop);
  }

  /** The refusal of a request, before its body is read; else its client. */
  async function admit(request: IncomingMessage): Promise<Response | AuthInfo | undefined> {
    const problem = findHeaderProblem(request, allowedHosts);
    if (problem !== undefined) return refuse(403, problem);
    if (open > MAX_HTTP_REQUESTS) return refuse(503, `more than ${MAX_HTTP_REQUESTS} requests are open`);
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname !== path && !pages?.has(url.pathname))
      return refuse(404, `nothing is served here; the path is ${path}`);
    const { authorization } = request.headers;
    const head = new Request(url, { headers: authorization === undefined ? {} : { authorization } });
    return authenticate?.(head);
  }

  return {
    async handle(request, response) {
      open += 1;
      response.once("close", () => {
        open -= 1;
        if (open === 0) onClosed();
      });
      const admitted = await admit(request).catch((error: Error) => {
        onError(error);
        return refuse(400, "Bad Request");
      });
      if (admitted instanceof Response) return send(admitted, response);
      onAdmitted?.(request);
      const page = pages?.get((request.url ?? "").split("?", 1)[0]!);
      if (page !== undefined) return answerPage(request, response, page, async () => undefined);
      // A request that a server has received has a method and a URL, unlike the type of Node, which also describes responses.
      const received = request as IncomingMessage & { method: string; url: string };
      await serve(Object.assign(received, admitted === undefined ? {} : { auth: admitted }), response);
    },
    async close() {
      await Promise.all([legacy.close(), ...Array.from(modern.values(), (handler) => handler.close())]);
      const closed = new Promise<void>((resolve) => {
        onClosed = resolve;
      });
      if (open > 0) await waitAtMost(clock, LAST_RESPONSES_MS, closed);
    },
  };
}

/** Watches the resources that a `subscriptions/listen` request names; undefined if it names none. */
async function watchListened(
  request: Request,
  watch: (uris: readonly string[]) => () => void,
): Promise<(() => void) | undefined> {
  if (request.method !== "POST" || request.headers.get("mcp-method") !== "subscriptions/listen") return undefined;
  const body: unknown = await request.clone().json();
  const { notifications } = Object(Reflect.get(Object(body), "params"));
  const uris: unknown = Reflect.get(Object(notifications), "resourceSubscriptions");
  if (!Array.isArray(uris)) return undefined;
  return watch(uris.filter((uri) => typeof uri === "string"));
}

async function send(refusal: Response, response: ServerResponse): Promise<void> {
  // The body was not read, so that the connection cannot be used again.
  response.writeHead(refusal.status, { ...Object.fromEntries(refusal.headers), connection: "close" });
  response.end(await refusal.text());
}
