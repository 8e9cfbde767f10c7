import { countMembers } from "./members.js";
import { RpcError } from "./rpc-error.js";
import { parseId, type RpcId } from "./rpc-id.js";

/** A message classified by its shape. A `jsonrpc` member is neither written nor checked. */
export type Envelope =
  | { kind: "request"; id: RpcId; method: string; params: unknown; trace: TraceContext | undefined }
  | { kind: "notification"; method: string; params: unknown }
  | { kind: "response"; id: RpcId; result: unknown }
  | { kind: "error"; id: RpcId; error: RpcError }
  | { kind: "malformed"; problem: string };

export type EnvelopeOf<Kind extends Envelope["kind"]> = Extract<Envelope, { kind: Kind }>;

/** W3C trace context of a request. */
export interface TraceContext {
  traceparent?: string | null | undefined;
  tracestate?: string | null | undefined;
}

/**
 * Classifies a parsed value: with `method` it is a request or, without `id`, a notification; else with `result` a response; else
 * it must be an error response. `text` is its JSON, for finding repeated keys.
 */
export function parseEnvelope(value: unknown, text?: string): Envelope {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return malformed("expected a JSON-RPC object");
  if (text !== undefined && countMembers(text) !== Object.keys(value).length) return malformed("a member is repeated");
  // An object from JSON has own members only.
  const message: Readonly<Record<string, unknown>> = value as Record<string, unknown>;
  const { method, result } = message;
  if (method === undefined) return result === undefined ? parseError(message, text) : parseResponse(message, text);
  if (typeof method !== "string") return malformed("`method` must be a string");
  if (message.id === undefined) return { kind: "notification", method, params: message.params };
  return parseRequest(message, method, text);
}

function parseRequest(message: Message, method: string, text: string | undefined): Envelope {
  const id = parseId(message.id, text);
  if (id === undefined) return malformed(ID_PROBLEM);
  const { trace } = message;
  if (trace === undefined || trace === null)
    return { kind: "request", id, method, params: message.params, trace: undefined };
  if (!isTrace(trace)) return malformed("`trace` must be an object of `traceparent` and `tracestate` strings");
  return { kind: "request", id, method, params: message.params, trace };
}

function parseResponse(message: Message, text: string | undefined): Envelope {
  if (message.id === undefined) return malformed("missing field `id`");
  const id = parseId(message.id, text);
  return id === undefined ? malformed(ID_PROBLEM) : { kind: "response", id, result: message.result };
}

function parseError(message: Message, text: string | undefined): Envelope {
  const { error } = message;
  if (error === undefined) return malformed("missing field `error`");
  if (message.id === undefined) return malformed("missing field `id`");
  const id = parseId(message.id, text);
  if (id === undefined) return malformed(ID_PROBLEM);
  if (typeof error !== "object" || error === null || !("code" in error) || !("message" in error)) {
    return malformed("`error` must be an object with `code` and `message`");
  }
  const { code, message: reason } = error;
  if (typeof code !== "number" || !Number.isSafeInteger(code)) return malformed("`error.code` must be an integer");
  if (typeof reason !== "string") return malformed("`error.message` must be a string");
  return { kind: "error", id, error: new RpcError(code, reason, "data" in error ? { data: error.data } : {}) };
}

type Message = Readonly<Record<string, unknown>>;

const ID_PROBLEM = "`id` must be a string or a signed 64-bit integer";

const malformed = (problem: string): Envelope => ({ kind: "malformed", problem });

function isTrace(value: unknown): value is TraceContext {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { traceparent, tracestate } = value as { traceparent?: unknown; tracestate?: unknown };
  return isTextOrNone(traceparent) && isTextOrNone(tracestate);
}

const isTextOrNone = (value: unknown): boolean => value === undefined || value === null || typeof value === "string";
