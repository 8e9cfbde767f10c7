import type { CallToolOptions, Judgement, ModelTool, ToolCallResult } from "@codex/orchestrator";

/** What the tools need: an `Orchestrator`, or a `Conversation` of one. */
export interface ToolCaller {
  listTools(): ModelTool[];
  callTool(name: string, args: unknown, options?: ToolCallerOptions): Promise<ToolCallResult>;
  judge(name: string, args: unknown): Promise<Judgement>;
}

type ToolCallerOptions = Pick<CallToolOptions, "signal" | "onOutput" | "grant" | "idempotencyKey">;
