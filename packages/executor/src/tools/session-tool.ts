import type { ExecutorToolSpec, ToolCallOutcome } from "@codex/executor-protocol";
import type { CallScope } from "../sessions/call-scope.js";
import type { UnifiedExec } from "../sessions/unified-exec.js";

/** `sessions`: `executor` includes the sessions of every orchestrator, for the operator of an executor. */
export type SessionCallScope = CallScope & { sessions: "own" | "executor" };

/** A built-in tool, which has access to the sessions of the calling orchestrator. */
export interface SessionTool {
  spec: ExecutorToolSpec;
  /** @throws ToolError */
  call(args: unknown, unifiedExec: UnifiedExec, scope: SessionCallScope): Promise<ToolCallOutcome>;
}
