import type { Usage } from "@codex/model";
import type { ThreadItem } from "./thread-item.js";

/**
 * Events of a turn, in order. A turn starts with `turn_started` and ends with exactly one of `turn_completed` and
 * `turn_failed`; every started item is completed before that. Messages and reasoning have no `item_started`: their deltas
 * carry the id of the later `item_completed`, unless a `retry` discards them.
 */
export type AgentEvent =
  | { readonly type: "thread_started"; readonly threadId: string; readonly resumed: boolean }
  | { readonly type: "turn_started"; readonly turnId: string }
  /** A request is sent; `number` counts from 1 within the turn. */
  | { readonly type: "request_started"; readonly number: number }
  | { readonly type: "response_completed"; readonly number: number; readonly usage: Usage | undefined }
  | { readonly type: "item_started" | "item_updated" | "item_completed"; readonly item: ThreadItem }
  | {
      readonly type: "item_delta";
      readonly itemId: string;
      readonly of: "text" | "reasoning" | "output";
      readonly text: string;
    }
  /** The request is retried; items with the ids in `discarded` are void. */
  | { readonly type: "retry"; readonly message: string; readonly discarded: readonly string[] }
  | TurnEnd;

/** How a turn ended. `usage` covers the whole thread, `turnUsage` this turn. */
export type TurnEnd = TurnCompleted | TurnFailed;

/** The model finished its response. */
export interface TurnCompleted {
  readonly type: "turn_completed";
  readonly usage: Usage;
  readonly turnUsage: Usage;
}

/** The turn failed; effects of its calls remain. */
export interface TurnFailed {
  readonly type: "turn_failed";
  readonly error: TurnError;
  readonly usage: Usage;
  readonly turnUsage: Usage;
}

/** Why a turn failed. `code` is `interrupted` (by caller or user), a limit, `not_saved` (the thread), `internal`, or a `ModelErrorCode`. */
export interface TurnError {
  readonly code: string;
  readonly message: string;
}
