import type { Usage } from "../model/model-port.js";
import type { ThreadItem } from "./thread-item.js";

/**
 * What happens in a turn, in order. A turn begins with `turn_started` and ends with exactly one of `turn_completed` and
 * `turn_failed`; an item that was started is completed before that. Messages and reasoning have no `item_started`: they come
 * as deltas under the id that their `item_completed` will have, unless a `retry` discards them.
 */
export type AgentEvent =
  | { readonly type: "thread_started"; readonly threadId: string; readonly resumed: boolean }
  | { readonly type: "turn_started"; readonly turnId: string }
  /** The model is asked; `number` counts from 1 within the turn. */
  | { readonly type: "request_started"; readonly number: number }
  | { readonly type: "response_completed"; readonly number: number; readonly usage: Usage | undefined }
  | { readonly type: "item_started" | "item_updated" | "item_completed"; readonly item: ThreadItem }
  | {
      readonly type: "item_delta";
      readonly itemId: string;
      readonly of: "text" | "reasoning" | "output";
      readonly text: string;
    }
  /** The model is asked again; what was shown under `discarded` was never completed. */
  | { readonly type: "retry"; readonly message: string; readonly discarded: readonly string[] }
  | TurnEnd;

/** How a turn ended. `usage` is of the whole thread, `turnUsage` of this turn. */
export type TurnEnd = TurnCompleted | TurnFailed;

/** The model has said what it had to say. */
export interface TurnCompleted {
  readonly type: "turn_completed";
  readonly usage: Usage;
  readonly turnUsage: Usage;
}

/** It could not; what was done until then is done. */
export interface TurnFailed {
  readonly type: "turn_failed";
  readonly error: TurnError;
  readonly usage: Usage;
  readonly turnUsage: Usage;
}

/** Why a turn failed. `interrupted`: its caller or the user ended it; otherwise a budget, or a code of `ModelError`. */
export interface TurnError {
  readonly code: string;
  readonly message: string;
}

/** No tokens. */
export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
  totalTokens: 0,
};

/** The sum of two. */
export const addUsage = (one: Usage, other: Usage): Usage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
  cacheWriteInputTokens: one.cacheWriteInputTokens + other.cacheWriteInputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  reasoningOutputTokens: one.reasoningOutputTokens + other.reasoningOutputTokens,
  totalTokens: one.totalTokens + other.totalTokens,
});
