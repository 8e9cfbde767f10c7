import type { IncomingMessage, ServerResponse } from "node:http";

const PROBES: ReadonlySet<string> = new Set(["/readyz", "/healthz"]);

/** Answers health probes, `GET` or `HEAD` of `/readyz` and `/healthz`, which need no token; false for other requests. */
export function answerProbe({ method, url = "" }: IncomingMessage, response: ServerResponse): boolean {
  if ((method !== "GET" && method !== "HEAD") || !PROBES.has(url.split("?", 1)[0]!)) return false;
  response.writeHead(200).end();
  return true;
}
