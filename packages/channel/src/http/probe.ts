import type { IncomingMessage, ServerResponse } from "node:http";

const PROBES: ReadonlySet<string> = new Set(["/readyz", "/healthz"]);

/**
 * Answers health probes, `GET` or `HEAD` of `/readyz` and `/healthz`, which need no token; false for other requests.
 * @param isReady what `/readyz` says: 200, or 503 while nothing new is served
 */
export function answerProbe(
  { method, url = "" }: IncomingMessage,
  response: ServerResponse,
  isReady: () => boolean = () => true,
): boolean {
  const path = url.split("?", 1)[0]!;
  if ((method !== "GET" && method !== "HEAD") || !PROBES.has(path)) return false;
  response.writeHead(path === "/healthz" || isReady() ? 200 : 503).end();
  return true;
}
