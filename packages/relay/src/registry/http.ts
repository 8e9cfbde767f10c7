import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { rootCertificates } from "node:tls";
import { cleanLine } from "@codex/telemetry";
import { defined, messageOf, SecretFilter } from "@codex/values";
import { MAX_REFUSAL_BYTES, MAX_REGISTRY_BYTES, REGISTRY_TIMEOUT_MS } from "../limits.js";
import { readRetryAfter } from "../socket/retry-after.js";
import { RegistryError } from "./registry-error.js";

/** A request to a registry. */
export interface RegistryRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Default POST. */
  method?: "POST" | "GET";
  body: string;
  /** Longest response, bytes. Default `MAX_REGISTRY_BYTES`. */
  maxBytes?: number;
  signal?: AbortSignal | undefined;
  /** Additional trusted CA certificates (PEM). */
  ca?: string | Uint8Array | undefined;
}

/** Sends a request, and returns the JSON of a 2xx response. Does not follow redirects. @throws RegistryError, or the reason of the signal */
export async function requestJson(request: RegistryRequest): Promise<unknown> {
  const { status, retryAfter, text } = await send(request);
  if (status < 200 || status > 299) {
    const hidden = SecretFilter.ofRequest(request.headers, request.url).hide(text);
    throw new RegistryError(describeRefusal(status, hidden), status, readRetryAfter(retryAfter));
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new RegistryError(`the registry answered HTTP ${status} with something that is not JSON`);
  }
}

interface Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

function send({
  url,
  headers,
  method = "POST",
  body,
  maxBytes = MAX_REGISTRY_BYTES,
  signal,
  ca,
}: RegistryRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: unknown) => {
      reject(signal?.aborted === true ? signal.reason : new RegistryError(message, undefined, undefined, { cause }));
      request.destroy();
    };
    const open = url.startsWith("https:") ? requestHttps : requestHttp;
    const request = open(url, {
      method,
      agent: false,
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      ...defined({ signal }),
      ...(ca === undefined ? {} : { ca: [...rootCertificates, Buffer.from(ca).toString()] }),
    });
    const timer = setTimeout(
      () => fail(`the registry did not respond within ${REGISTRY_TIMEOUT_MS} ms`),
      REGISTRY_TIMEOUT_MS,
    );
    request.once("close", () => clearTimeout(timer));
    request.once("error", (cause) => fail(`the registry cannot be reached: ${describe(cause)}`, cause));
    request.once("response", (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes) fail(`the registry answered with more than ${maxBytes} bytes`);
      });
      response.once("error", (cause) => fail(`the response of the registry was cut off: ${cause.message}`, cause));
      response.once("end", () => {
        const { statusCode = 0, headers: given } = response;
        resolve({ status: statusCode, retryAfter: given["retry-after"], text: Buffer.concat(chunks).toString() });
      });
    });
    request.end(body);
  });
}

const describe = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : error.message;

/** Codex's registry returns errors as `{error: {code, message}}`. */
function describeRefusal(status: number, text: string): string {
  const where = `the registry refused with HTTP ${status}`;
  const detail = readDetail(text);
  return detail === "" ? where : `${where}: ${cleanLine(detail, MAX_REFUSAL_BYTES)}`;
}

function readDetail(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null || !("error" in parsed)) return "";
    const { error } = parsed;
    if (typeof error === "string") return error;
    if (typeof error !== "object" || error === null) return "";
    const parts = [
      "code" in error && typeof error.code === "string" ? error.code : "",
      "message" in error && typeof error.message === "string" ? error.message : "",
    ];
    return parts.filter((part) => part !== "").join(": ");
  } catch {
    return "";
  }
}
