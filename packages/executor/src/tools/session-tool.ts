import type { ExecutorToolSpec, ToolCallOutcome } from "@codex/executor-protocol";
import type { CallScope } from "../sessions/call-scope.js";
import type { UnifiedExec } from "../sessions/unified-exec.js";

/** `sessions: "executor"` includes those of every orchestrator: for the operator of an executor. */
export type SessionCallScope = CallScope & { sessions: "own" | "executor" };

/** A tool of this package: unlike others it works on the sessions of the orchestrator that calls it. */
export interface SessionTool {
  spec: ExecutorToolSpec;
  /** @throws ToolError */
  call(args: unknown, unifiedExec: UnifiedExec, scope: SessionCallScope): Promise<ToolCallOutcome>;
}
