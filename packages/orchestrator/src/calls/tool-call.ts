import type { LiveOutput } from "@codex/executor-client";
import type { AnyStructured, ToolCallResult } from "../result.js";

/** A tool call that is under way. */
export interface ToolCall<Structured = AnyStructured> {
  /**
   * Live output from the first byte on, for one loop. A loop that has begun holds the executor back instead of losing
   * output; leaving it (`break`) lets the call go on without a reader. The loop ends before `result` resolves, and never
   * throws. Of a call whose `result` is awaited before a loop has begun, about 1 MiB is kept; `dropped` of a piece
   * is the range that is missing before it.
   */
  readonly output: AsyncIterable<LiveOutput>;
  /** As `callTool`: never rejects for what a model or an executor did. Needs no reader of `output`. */
  readonly result: Promise<ToolCallResult<Structured>>;
}
