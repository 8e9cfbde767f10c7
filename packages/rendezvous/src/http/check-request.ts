import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { Refusal } from "../refusal.js";

/** Version of the registry and connection protocol. */
export const PROTOCOL_VERSION = "1";

/** Header in every response; a client can request a version with it. */
export const VERSION_HEADER = "codex-rendezvous-version";

/** Headers that decide authorization: a duplicate could be interpreted differently by a proxy. */
const SINGLE = new Set(["authorization", "host", "content-length", "transfer-encoding", "origin", VERSION_HEADER]);

/**
 * Refuses requests that no executor or harness sends. @param isGuarded whether tokens are required; if not, DNS rebinding by a web
 * page must be prevented.
 * @throws Refusal
 */
export function checkRequest({ rawHeaders, headers }: IncomingMessage, isGuarded: boolean): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (SINGLE.has(name) && seen.has(name)) throw new Refusal("bad_request", `the header ${name} is repeated`);
    seen.add(name);
  }
  if (headers.origin !== undefined) throw new Refusal("browser", "requests from web pages are refused");
  if (!isGuarded && isNamedHost(headers.host)) {
    throw new Refusal("browser", "without tokens only requests that name the host by its address are answered");
  }
  const version = headers[VERSION_HEADER];
  if (version === undefined || version === PROTOCOL_VERSION) return;
  throw new Refusal("unsupported_version", `this rendezvous speaks version ${PROTOCOL_VERSION} of its protocol`);
}

/** Whether a request opens a websocket. @throws Refusal `bad_request` */
export function checkUpgrade({ method, headers }: IncomingMessage): void {
  const isWebSocket =
    method === "GET" &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers["sec-websocket-key"] ?? "") &&
    headers["sec-websocket-version"] === "13";
  if (!isWebSocket) throw new Refusal("bad_request", "expected a websocket upgrade, version 13");
}

/** Whether a `Host` header names anything but an address or this host. */
function isNamedHost(host: string | undefined): boolean {
  const name = (host ?? "").replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  return isIP(name) === 0 && name.toLowerCase() !== "localhost";
}
