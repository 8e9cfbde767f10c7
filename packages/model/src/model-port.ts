import type { Item } from "./items.js";
import type { ToolSpec } from "./tool-spec.js";

/** A request for one response, as plain data independent of the endpoint. */
export interface ModelRequest {
  /** Model id that the endpoint expects. */
  readonly model: string;
  /** The whole history, oldest first. */
  readonly input: readonly Item[];
  readonly tools: readonly ToolSpec[];
  readonly parallelToolCalls: boolean;
  readonly reasoning?: ReasoningOptions;
  readonly text?: TextOptions;
  /** Constant within a thread. */
  readonly promptCacheKey: string;
  readonly serviceTier?: string;
  readonly threadId: string;
  readonly turnId: string;
  /** From an earlier `completed` event of this turn; sent back until the turn ends. */
  readonly turnState?: string;
}

/** Reasoning effort, and the form of its summary. */
export interface ReasoningOptions {
  readonly effort?: string;
  readonly summary?: string;
}

/** Form of the response text. */
export interface TextOptions {
  readonly verbosity?: string;
  readonly format?: OutputFormat;
}

/** JSON schema of the response. */
export interface OutputFormat {
  readonly type: "json_schema";
  readonly name: string;
  readonly strict: boolean;
  readonly schema: unknown;
}

/** Token counts reported by the endpoint. */
export interface Usage {
  readonly inputTokens: number;
  /** Part of `inputTokens`. */
  readonly cachedInputTokens: number;
  /** Part of `inputTokens`. */
  readonly cacheWriteInputTokens: number;
  readonly outputTokens: number;
  /** Part of `outputTokens`. */
  readonly reasoningOutputTokens: number;
  readonly totalTokens: number;
}

/**
 * Events of a response. Deltas are for display; `item_done` is authoritative. The last event is `completed`; without it the
 * iteration throws.
 */
export type ModelEvent =
  | { readonly type: "text_delta" | "reasoning_delta"; readonly itemId?: string; readonly text: string }
  | { readonly type: "item_done"; readonly item: Item }
  /** For the user, such as a dropped malformed call. `retry`: the notice is about a retry. */
  | { readonly type: "notice"; readonly message: string; readonly retry?: boolean }
  | {
      readonly type: "completed";
      readonly responseId: string;
      readonly usage?: Usage;
      /** False: the model continues although it made no call. */
      readonly endTurn?: boolean;
      readonly turnState?: string;
    };

/** A model behind an endpoint. */
export interface ModelPort {
  /**
   * Requests one response. Requests that fail before the response starts are retried internally, with a notice; a broken
   * stream must be retried by the caller, which tracks the calls already made.
   * @throws ModelError when the request failed or its stream broke
   * @throws the abort reason of the signal
   */
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

/** Kind of failure; see `status` and the message for details. */
export type ModelErrorCode =
  | "connection_refused"
  | "connection_lost"
  | "stream_cut"
  | "idle_timeout"
  | "http_status"
  | "unauthorized"
  | "rate_limited"
  | "response_failed"
  | "incomplete"
  | "context_too_long"
  /** The endpoint does not support a type of tool that was offered. */
  | "tool_type"
  | "too_large"
  | "bad_request";

/**
 * Whether to retry: `never`; `stream`: a limited number of times; `refused`: connection refused, without limit, since the
 * endpoint may start later.
 */
export type RetryKind = "never" | "stream" | "refused";

/** Properties of a `ModelError` besides its message. */
export interface ModelErrorOptions {
  readonly retry: RetryKind;
  /** HTTP status. */
  readonly status?: number;
  /** Delay requested by the endpoint, milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A request for a response failed. The message never contains a key. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly retry: RetryKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ModelErrorCode, message: string, options: ModelErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ModelError";
    this.code = code;
    this.retry = options.retry;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
