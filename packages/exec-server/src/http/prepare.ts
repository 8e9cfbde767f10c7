import { RpcError } from "@codex/channel";
import { NEVER_PASSED } from "@codex/exec-backend";
import type { HttpRequestParams } from "@codex/exec-server-protocol";
import { ERROR_CODES } from "@codex/exec-server-protocol";

/** A validated request. */
export interface PreparedRequest {
  method: string;
  /** Without credentials and fragment. */
  url: URL;
  headers: readonly PreparedHeader[];
  body: Buffer | undefined;
}

export interface PreparedHeader {
  name: string;
  /** One character for each byte on the wire. */
  value: string;
  /** Contains a value of the server's environment: must not be sent to another origin. */
  isSecret: boolean;
}

/** Validates a request. @throws RpcError -32602 that names the invalid part */
export function prepareRequest(
  { method, url: text, headers, bodyBase64: body }: HttpRequestParams,
  env: Readonly<Record<string, string | undefined>>,
): PreparedRequest {
  const url = parseUrl(text);
  checkMethod(method);
  const prepared = headers.map((header) => prepareHeader(header, env));
  if (url.username !== "" && !prepared.some(({ name }) => isName(name, "authorization"))) {
    prepared.push({ name: "authorization", value: basicAuthorization(url), isSecret: false });
  }
  checkFraming(prepared, body);
  return { method, url: withoutUser(url), headers: prepared, body };
}

export const isName = (name: string, lowerCaseName: string): boolean => name.toLowerCase() === lowerCaseName;

/** The URL for error messages: without credentials, query and fragment, which may hold secrets. */
export const displayUrl = ({ origin, pathname }: URL): string => `${origin}${pathname}`;

export function withoutUser(url: URL): URL {
  const plain = new URL(url);
  plain.username = "";
  plain.password = "";
  plain.hash = "";
  return plain;
}

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Control characters except the tab. */
const NO_HEADER_VALUE = /[\0-\x08\x0a-\x1f\x7f]/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;

const invalidParams = (message: string): RpcError => new RpcError(ERROR_CODES.invalidParams, `http/request ${message}`);

function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    const problem = SCHEME.test(text.trimStart()) ? "no valid host or port" : "relative URL without a base";
    throw invalidParams(`url is invalid: ${problem}`);
  }
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw invalidParams(`only supports http and https URLs, got ${url.protocol.slice(0, -1)}`);
}

function checkMethod(method: string): void {
  if (!TOKEN.test(method)) throw invalidParams("method is invalid: invalid HTTP method");
  if (method === "CONNECT") throw invalidParams("method is invalid: CONNECT opens a tunnel, which has no response");
}

function prepareHeader(
  { name, value, valueEnvVar }: HttpRequestParams["headers"][number],
  env: Readonly<Record<string, string | undefined>>,
): PreparedHeader {
  if (!TOKEN.test(name)) throw invalidParams("header name is invalid: invalid HTTP header name");
  let text = value;
  if (valueEnvVar !== undefined) {
    const own = NEVER_PASSED.includes(valueEnvVar) ? undefined : env[valueEnvVar];
    if (own === undefined) throw invalidParams(`header ${name} requires executor environment variable ${valueEnvVar}`);
    if (own === "") {
      throw invalidParams(`header ${name} requires a non-empty executor environment variable ${valueEnvVar}`);
    }
    text += own;
  }
  if (NO_HEADER_VALUE.test(text)) throw invalidParams(`header value is invalid for ${name}: it has control characters`);
  return { name, value: Buffer.from(text).toString("latin1"), isSecret: valueEnvVar !== undefined };
}

/** Refuses headers that contradict the length of the body. */
function checkFraming(headers: readonly PreparedHeader[], body: Buffer | undefined): void {
  const valuesOf = (wanted: string) => headers.filter(({ name }) => isName(name, wanted)).map(({ value }) => value);
  const [lengths, codings] = [valuesOf("content-length"), valuesOf("transfer-encoding")];
  const bytes = body?.length ?? 0;
  for (const length of lengths) {
    if (length === String(bytes)) continue;
    throw invalidParams(`header value is invalid for content-length: ${length}, but the body has ${bytes} bytes`);
  }
  for (const coding of codings) {
    if (coding.toLowerCase() === "chunked" && codings.length === 1 && lengths.length === 0) continue;
    throw invalidParams(`header value is invalid for transfer-encoding: ${coding}; only chunked is supported`);
  }
  if (valuesOf("host").length > 1) throw invalidParams("header host is given more than once");
}

function basicAuthorization({ username, password }: URL): string {
  const user = Buffer.from(`${decode(username)}:${decode(password)}`);
  return `Basic ${user.toString("base64")}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
