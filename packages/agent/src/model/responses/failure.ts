import { asObject, asText, parseJson } from "../../json.js";
import { ModelError, type ModelErrorCode, type RetryKind } from "../model-port.js";
import { parsePauseInText, parseRetryAfter } from "./retry-after.js";

/** A failed request: `repeat` says that the request itself may be repeated at once, before the stream counts as broken. */
export interface RequestFailure {
  readonly error: ModelError;
  readonly repeat: boolean;
}

/** An answer that is not a stream. `body` is its text, cut. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Where the key came from, for people; undefined where none was sent. */
  readonly keySource: string | undefined;
}

/** Failures that nothing changes. */
const FINAL_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "context_length_exceeded",
  "usage_not_included",
  "usage_limit_reached",
  "invalid_prompt",
  "server_is_overloaded",
]);

/** What an HTTP status other than success means: a pure function of the answer. */
export function readHttpFailure(answer: HttpAnswer): RequestFailure {
  const { status, headers, body, now } = answer;
  const told = readErrorBody(body);
  const text = `the endpoint answered ${status}${told.message === "" ? "" : `: ${told.message}`}`;
  const after = parseRetryAfter(headers, now);
  const wait = after === undefined ? {} : { retryAfterMs: after.delayMs };
  const fail = (code: ModelErrorCode, retry: RetryKind, repeat: boolean, message = text): RequestFailure => ({
    error: new ModelError(code, message, { retry, status, ...(retry === "never" ? {} : wait) }),
    repeat,
  });
  if (status >= 500) return fail("http_status", "stream", true);
  if (told.code !== undefined && FINAL_CODES.has(told.code)) return fail(codeOf(told.code), "never", false);
  if (status === 429) return fail("rate_limited", "stream", after?.standard !== true);
  if (status === 401 || status === 403) return fail("unauthorized", "never", false, explainKey(text, answer.keySource));
  if (status === 400)
    return fail(namesToolType(`${told.message} ${told.param}`) ? "tool_type" : "bad_request", "never", false);
  if (status >= 300 && status < 400) {
    const target = headers.get("location") ?? "elsewhere";
    return fail("http_status", "never", false, `${text}; it redirects to ${target}: set base_url to where it is`);
  }
  return fail("http_status", "stream", false);
}

function explainKey(text: string, source: string | undefined): string {
  return source === undefined ? `${text}; no key was sent` : `${text}; the key came from ${source}`;
}

/** What `response.failed` and `error` events mean. */
export function readResponseFailure(code: string | undefined, message: string): ModelError {
  const text = [code, message].filter((part) => part !== undefined && part !== "").join(": ");
  const reason = text === "" ? "the endpoint gave no reason" : text;
  if (code !== undefined && FINAL_CODES.has(code)) return new ModelError(codeOf(code), reason, { retry: "never" });
  if (code !== "rate_limit_exceeded") return new ModelError("response_failed", reason, { retry: "stream" });
  const retryAfterMs = parsePauseInText(message);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new ModelError("rate_limited", reason, { retry: "stream", ...wait });
}

/** What `response.incomplete` means. */
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

/** Code and text of an error body in the usual forms, or its text as it is. */
function readErrorBody(body: string): { code: string | undefined; message: string; param: string } {
  const json = asObject(parseJson(body));
  const error = asObject(json?.error) ?? json;
  const message =
    asText(error?.message) ?? asText(json?.error) ?? asText(json?.detail) ?? (json === undefined ? body : "");
  const code = asText(error?.code) ?? asText(error?.type);
  return { code, message: (message === "" ? body : message).trim(), param: asText(error?.param) ?? "" };
}

/** Endpoints word it in many ways: a type of tool that they do not know, near the words tool and type. */
const namesToolType = (text: string): boolean =>
  /tools?\b[^\n]{0,160}\btype|\btype\b[^\n]{0,160}\btools?\b|['"`]custom['"`]/i.test(text);

/** Why a connection failed, down to its first cause. Never rejects what was thrown: anything has a text. */
export function readConnectionFailure(thrown: unknown): RequestFailure {
  const causes = causesOf(thrown);
  const codes = causes.map((cause) => asText(asObject(cause)?.code)).filter((code) => code !== undefined);
  const last = causes.findLast((cause) => cause instanceof Error && cause.message !== "");
  const text = last instanceof Error ? last.message : codes[0] === undefined ? String(thrown) : codes[0];
  if (codes.includes("ECONNREFUSED")) {
    const error = new ModelError("connection_refused", `nobody answers: ${text}`, { retry: "refused", cause: thrown });
    return { error, repeat: true };
  }
  if (codes.some((code) => /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(code))) {
    return { error: new ModelError("idle_timeout", text, { retry: "stream", cause: thrown }), repeat: true };
  }
  const error = new ModelError("connection_lost", `the connection failed: ${text}`, { retry: "stream", cause: thrown });
  return { error, repeat: true };
}

/** An error, its cause, the cause of that …; of several errors in one the first. */
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
