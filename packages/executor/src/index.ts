export type { ToollessHost } from "@codex/exec-backend";
export type { CeilingOptions, ReachPaths, ResolvePath } from "./admission/ceiling.js";
export type { CreateExecServer, HostedExecServer } from "./connections/tunnels.js";
export { ToolError } from "./errors.js";
export { createExecutor, type Executor, type ExecutorOptions, type ServeOptions } from "./executor.js";
export { createHostTools } from "./host-tools.js";
export { createCountingIds, createRandomIds, type Ids } from "./ids.js";
export { DEFAULT_EXECUTOR_LIMITS, type ExecutorLimits } from "./limits.js";

export { defineTool, type ToolDefinition, type ToolResult } from "./tools/define-tool.js";
export type { ExecutorTool, ToolCallContext, ToolRegistry } from "./tools/tool-registry.js";
