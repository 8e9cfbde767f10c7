import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { Refusal } from "../refusal.js";
import { PROTOCOL_VERSION, VERSION_HEADER } from "./check-request.js";

/**
 * Sends JSON and closes the connection: a Codex client does not retry when a keep-alive connection is closed before its next request
 * gets a response.
 */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: object,
  headers: Record<string, string> = {},
): void {
  sendText(response, status, "application/json", JSON.stringify(value), headers);
}

/** Sends a text, and closes the connection. */
export function sendText(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  headers: Record<string, string> = {},
): void {
  const body = Buffer.from(text);
  response
    .writeHead(status, {
      "content-type": contentType,
      "content-length": body.length,
      "cache-control": "no-store",
      [VERSION_HEADER]: PROTOCOL_VERSION,
      connection: "close",
      ...headers,
    })
    .end(body);
}

/** The response to a failed request; details of unexpected errors are not sent. */
export const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal("internal", "the rendezvous has failed; see its log");

/** Headers of a refusal. */
function headersOf({ status, code, retryAfterS }: Refusal): Record<string, string> {
  return {
    "x-codex-rendezvous-rejection-reason": code,
    ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  };
}

/** The JSON of a refusal. */
const bodyOf = ({ code, message }: Refusal): object => ({ error: { code, message } });

/** Responds to a request with a refusal. */
export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, refusal.status, bodyOf(refusal), headersOf(refusal));
}

/** Responds to an upgrade with a refusal, and closes its connection. */
export function refuseUpgrade(wire: Duplex, refusal: Refusal): void {
  const body = JSON.stringify(bodyOf(refusal));
  const headers = {
    ...headersOf(refusal),
    [VERSION_HEADER]: PROTOCOL_VERSION,
    connection: "close",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  wire.once("finish", () => wire.destroy());
  wire.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
}
