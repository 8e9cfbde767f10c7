import { isUtf8 } from "node:buffer";
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { urlToHttpOptions } from "node:url";
import type { HttpHeader } from "@codex/exec-server-protocol";
import { ADDRESS_ATTEMPT_MS, MAX_HEADER_BYTES } from "./limits.js";
import { isName, type PreparedHeader, type PreparedRequest } from "./prepare.js";

/** Request functions and agents by scheme. */
export interface Senders {
  http: Sender;
  https: Sender;
}

interface Sender {
  request: (options: RequestOptions) => ClientRequest;
  agent: Agent;
}

/**
 * Loads the HTTP modules, which takes 7 ms, on first use. Connections are not reused: after a failure on a reused one it is
 * unknown whether the request was processed, and requests are never sent twice. Agents keep `connection: keep-alive`,
 * because `close` changes the responses of some servers.
 * @param ca certificates in PEM that are trusted in addition to the default ones
 */
export async function loadSenders(ca: string | undefined): Promise<Senders> {
  const [http, https, tls] = await Promise.all([import("node:http"), import("node:https"), import("node:tls")]);
  const options = {
    keepAlive: true,
    maxFreeSockets: 0,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
  };
  const secure = ca === undefined ? options : { ...options, ca: [...tls.rootCertificates, ca] };
  return {
    http: { request: http.request, agent: new http.Agent(options) },
    https: { request: https.request, agent: new https.Agent(secure) },
  };
}

/** Sends a request; resolves at the response headers. The caller reads or destroys the body. */
export function sendRequest(request: PreparedRequest, senders: Senders, signal: AbortSignal): Promise<IncomingMessage> {
  const { method, url, headers, body } = request;
  const sender = url.protocol === "https:" ? senders.https : senders.http;
  return new Promise((resolve, reject) => {
    const sending = sender.request({
      ...urlToHttpOptions(url),
      method,
      agent: sender.agent,
      maxHeaderSize: MAX_HEADER_BYTES,
      setHost: false,
      signal,
    });
    sending.once("response", resolve);
    sending.on("error", reject);
    // A protocol switch (101) ends without either event.
    sending.once("close", () => reject(new Error("the connection ended without a response")));
    // Node writes methods in upper case unless they are set afterwards.
    sending.method = method;
    for (const [name, values] of groupHeaders(headers, url, body)) sending.setHeader(name, values);
    sending.end(body);
  });
}

/** Groups repeated headers by name in the order of first occurrence, and adds the default headers. */
function groupHeaders(headers: readonly PreparedHeader[], url: URL, body: Buffer | undefined): Map<string, string[]> {
  const has = (wanted: string) => headers.some(({ name }) => isName(name, wanted));
  const groups = new Map<string, { name: string; values: string[] }>();
  for (const { name, value } of headers) {
    const group = groups.get(name.toLowerCase());
    if (group === undefined) groups.set(name.toLowerCase(), { name, values: [value] });
    else group.values.push(value);
  }
  const grouped = new Map([...groups.values()].map(({ name, values }) => [name, values]));
  if (!has("accept")) grouped.set("accept", ["*/*"]);
  if (!has("host")) grouped.set("host", [url.host]);
  if (body !== undefined && body.length > 0 && !has("content-length") && !has("transfer-encoding")) {
    grouped.set("content-length", [String(body.length)]);
  }
  return grouped;
}

/** Every response header in order, names in lower case. */
export function readHeaders({ rawHeaders }: IncomingMessage): HttpHeader[] {
  const headers: HttpHeader[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.push({ name: rawHeaders[index]!.toLowerCase(), value: toText(rawHeaders[index + 1]!) });
  }
  return headers;
}

/** Decodes a value, in which Node has one character for each byte. */
function toText(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString() : value;
}
