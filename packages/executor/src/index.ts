export { type CeilingOptions, type ResolvePath, resolveLocalPath } from "./admission/ceiling.js";

export { ToolError } from "./errors.js";
export { createExecutor, type Executor, type ExecutorOptions, type ServeOptions } from "./executor.js";
export { getHostInfo } from "./host/host-info.js";
export { createCountingIds, createRandomIds, type Ids } from "./ids.js";
export { DEFAULT_EXECUTOR_LIMITS, DEFAULT_RESUME_GRACE_MS, type ExecutorLimits } from "./limits.js";

export { defineTool, type ToolDefinition, type ToolResult } from "./tools/define-tool.js";
export type { ExecutorTool, ToolCallContext, ToolRegistry } from "./tools/tool-registry.js";
