import type { CallToolOptions } from "../calls/call-options.js";
import type { Judgement } from "../calls/judge-call.js";
import type { ModelTool } from "../catalog/catalog.js";
import type { ToolCallResult } from "../result.js";

/** The interface that adapters for agent stacks use: an `Orchestrator`, or one of its conversations. */
export interface ToolCaller {
  listTools(): ModelTool[];
  callTool(name: string, args: unknown, options?: ToolCallerOptions): Promise<ToolCallResult>;
  judge(name: string, args: unknown): Promise<Judgement>;
}

/** The options that both accept. */
export type ToolCallerOptions = Pick<
  CallToolOptions,
  "signal" | "onOutput" | "grant" | "idempotencyKey" | "maxWindowMs" | "approver"
>;
