import { SecretFilter } from "@codex/values";
import { asObject, asText, parseJson } from "../json/members.js";
import { ModelError, type ModelErrorCode, type RetryKind } from "../model-port.js";
import { parsePauseInText, parseRetryAfter } from "./retry-after.js";

/** A failed request; `repeat`: the request may be retried without counting as a broken stream. */
export interface RequestFailure {
  readonly error: ModelError;
  readonly repeat: boolean;
}

/** An HTTP error response. `body` is its text, truncated. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Source of the key, for messages; undefined when none was sent. */
  readonly keySource: string | undefined;
}

/** Error codes that are never retried. */
const FINAL_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "context_length_exceeded",
  "usage_not_included",
  "usage_limit_reached",
  "invalid_prompt",
  "server_is_overloaded",
]);

/** Classifies an HTTP error response. Pure. */
export function readHttpFailure(response: ErrorResponse): RequestFailure {
  const { status, headers, body, now } = response;
  const detail = readErrorBody(body);
  const text = `the endpoint answered ${status}${detail.message === "" ? "" : `: ${detail.message}`}`;
  const after = parseRetryAfter(headers, now);
  const wait = after === undefined ? {} : { retryAfterMs: after.delayMs };
  const fail = (code: ModelErrorCode, retry: RetryKind, repeat: boolean, message = text): RequestFailure => ({
    error: new ModelError(code, message, { retry, status, ...(retry === "never" ? {} : wait) }),
    repeat,
  });
  if (status >= 500) return fail("http_status", "stream", true);
  if (detail.code !== undefined && FINAL_CODES.has(detail.code)) return fail(codeOf(detail.code), "never", false);
  if (status === 429) return fail("rate_limited", "stream", after?.standard !== true);
  if (status === 401 || status === 403)
    return fail("unauthorized", "never", false, explainKey(text, response.keySource));
  if (status === 400)
    return fail(namesToolType(`${detail.message} ${detail.param}`) ? "tool_type" : "bad_request", "never", false);
  if (status >= 300 && status < 400) {
    const target = describeTarget(headers.get("location"));
    return fail("http_status", "never", false, `${text}; it redirects to ${target}: set base_url to where it is`);
  }
  return fail("http_status", "stream", false);
}

/** Without query, fragment, user and password: those may be secrets of the endpoint. */
function describeTarget(location: string | null): string {
  const [place = ""] = (location ?? "").split(/[?#]/, 1);
  return new SecretFilter([], { urls: true }).hide(place) || "elsewhere";
}

function explainKey(text: string, source: string | undefined): string {
  return source === undefined ? `${text}; no key was sent` : `${text}; the key came from ${source}`;
}

/** Classifies `response.failed` and `error` events. */
export function readResponseFailure(code: string | undefined, message: string): ModelError {
  const text = [code, message].filter((part) => part !== undefined && part !== "").join(": ");
  const reason = text === "" ? "the endpoint gave no reason" : text;
  if (code !== undefined && FINAL_CODES.has(code)) return new ModelError(codeOf(code), reason, { retry: "never" });
  if (code !== "rate_limit_exceeded") return new ModelError("response_failed", reason, { retry: "stream" });
  const retryAfterMs = parsePauseInText(message);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new ModelError("rate_limited", reason, { retry: "stream", ...wait });
}

/** Classifies `response.incomplete`. */
export function readIncomplete(reason: string | undefined): ModelError {
  const message = `the response is incomplete: ${reason ?? "no reason given"}`;
  return new ModelError("incomplete", message, { retry: reason === "max_output_tokens" ? "never" : "stream" });
}

const codeOf = (code: string): ModelErrorCode =>
  code === "context_length_exceeded"
    ? "context_too_long"
    : code === "invalid_prompt"
      ? "bad_request"
      : "response_failed";

/** Extracts code and message of an error body in the common formats, or its plain text. */
function readErrorBody(body: string): { code: string | undefined; message: string; param: string } {
  const json = asObject(parseJson(body));
  const error = asObject(json?.error) ?? json;
  const message =
    asText(error?.message) ?? asText(json?.error) ?? asText(json?.detail) ?? (json === undefined ? body : "");
  const code = asText(error?.code) ?? asText(error?.type);
  return { code, message: (message === "" ? body : message).trim(), param: asText(error?.param) ?? "" };
}

/** Whether an error is about an unsupported tool type; its wording varies by endpoint. */
const namesToolType = (text: string): boolean =>
  /tools?\b[^\n]{0,160}\btype|\btype\b[^\n]{0,160}\btools?\b|['"`]custom['"`]/i.test(text);

/** Classifies a connection failure by its chain of causes; accepts any thrown value. */
export function readConnectionFailure(thrown: unknown): RequestFailure {
  const causes = causesOf(thrown);
  const codes = causes.map((cause) => asText(asObject(cause)?.code)).filter((code) => code !== undefined);
  const last = causes.findLast((cause) => cause instanceof Error && cause.message !== "");
  const text = last instanceof Error ? last.message : codes[0] === undefined ? String(thrown) : codes[0];
  if (codes.includes("ECONNREFUSED")) {
    const error = new ModelError("connection_refused", `nothing is listening there: ${text}`, {
      retry: "refused",
      cause: thrown,
    });
    return { error, repeat: true };
  }
  if (codes.some((code) => /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(code))) {
    return { error: new ModelError("idle_timeout", text, { retry: "stream", cause: thrown }), repeat: true };
  }
  const error = new ModelError("connection_lost", `the connection failed: ${text}`, { retry: "stream", cause: thrown });
  return { error, repeat: true };
}

/** The chain of causes of an error; of an AggregateError, the first error. */
function causesOf(thrown: unknown): unknown[] {
  const causes: unknown[] = [];
  let next = thrown;
  while (next !== undefined && causes.length < 8) {
    causes.push(next);
    const errors: unknown = asObject(next)?.errors;
    next = Array.isArray(errors) ? (errors as unknown[])[0] : asObject(next)?.cause;
  }
  return causes;
}
