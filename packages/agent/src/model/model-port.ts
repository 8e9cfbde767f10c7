import type { Item } from "./items.js";
import type { ToolSpec } from "./tool-spec.js";

/** Everything that one response is asked with. Plain data: what an endpoint makes of it is its own business. */
export interface ModelRequest {
  /** As the endpoint names it. */
  readonly model: string;
  /** The whole history, oldest first. */
  readonly input: readonly Item[];
  readonly tools: readonly ToolSpec[];
  readonly parallelToolCalls: boolean;
  readonly reasoning?: ReasoningOptions;
  readonly text?: TextOptions;
  /** The same for every request of a thread. */
  readonly promptCacheKey: string;
  readonly serviceTier?: string;
  readonly threadId: string;
  readonly turnId: string;
  /** What `completed` gave earlier in this turn; sent back until the turn ends. */
  readonly turnState?: string;
}

/** How much a model thinks, and whether it tells. */
export interface ReasoningOptions {
  readonly effort?: string;
  readonly summary?: string;
}

/** The form of the answer. */
export interface TextOptions {
  readonly verbosity?: string;
  readonly format?: OutputFormat;
}

/** A JSON schema that the answer must fit. */
export interface OutputFormat {
  readonly type: "json_schema";
  readonly name: string;
  readonly strict: boolean;
  readonly schema: unknown;
}

/** Tokens as the endpoint counted them. */
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
 * What comes while a response is made. Deltas are for showing: only what an `item_done` carries counts. `completed` is
 * the last event, and there is one, or the iteration throws.
 */
export type ModelEvent =
  | { readonly type: "text_delta" | "reasoning_delta"; readonly itemId?: string; readonly text: string }
  | { readonly type: "item_done"; readonly item: Item }
  /** For the user: a request is repeated, a call was malformed and dropped. `retry`: it is about a repetition. */
  | { readonly type: "notice"; readonly message: string; readonly retry?: boolean }
  | {
      readonly type: "completed";
      readonly responseId: string;
      readonly usage?: Usage;
      /** False: the model wants to go on although it called nothing. */
      readonly endTurn?: boolean;
      readonly turnState?: string;
    };

/** A model behind an endpoint. */
export interface ModelPort {
  /**
   * Asks for one response. Requests that fail before the response begins are repeated inside, with a notice; a stream
   * that breaks is for the caller to repeat, who knows what became of its calls.
   * @throws ModelError when the response cannot be had or its stream broke
   * @throws the reason of the signal when that aborts
   */
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

/** What kind of failure it is; `status` and the text tell more. */
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
  /** The endpoint does not take a type of tool that was offered. */
  | "tool_type"
  | "too_large"
  | "bad_request";

/**
 * Whether it may be asked again: `never`; `stream`: a bounded number of times; `refused`: nobody listens there, which
 * may last, so without end.
 */
export type RetryKind = "never" | "stream" | "refused";

/** What a `ModelError` tells besides its message. */
export interface ModelErrorOptions {
  readonly retry: RetryKind;
  /** Of HTTP. */
  readonly status?: number;
  /** What the endpoint asked to wait, milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A response could not be had. The message is for people and never contains a key. */
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
