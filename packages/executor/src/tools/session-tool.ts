import type { ExecutorToolSpec, ToolCallOutcome } from "@codex/executor-protocol";
import type { CallScope, UnifiedExec } from "../sessions/unified-exec.js";

/** A tool of this package: unlike others it works on the sessions of the orchestrator that calls it. */
export interface SessionTool {
  spec: ExecutorToolSpec;
  /** @throws ToolError */
  call(args: unknown, unifiedExec: UnifiedExec, scope: CallScope): Promise<ToolCallOutcome>;
}
