import type { LiveOutput } from "@codex/executor-client";
import type { AnyStructured, ToolCallResult } from "../result.js";

/** A tool call in progress. */
export interface ToolCall<Structured = AnyStructured> {
  /**
   * Live output from the first byte on, for a single loop. A slow loop delays the executor instead of losing output; after
   * `break` the call continues without a reader. The loop ends before `result` resolves, and never throws. If `result` is
   * awaited before a loop has begun, about 1 MiB is retained; `dropped` of a piece is the range that is missing before it.
   */
  readonly output: AsyncIterable<LiveOutput>;
  /** As `callTool`: never rejects because of a model or an executor. Does not require a reader of `output`. */
  readonly result: Promise<ToolCallResult<Structured>>;
}
