export type {
  CommandDetails,
  CompactionDetails,
  FileChange,
  FileChangeDetails,
  ImageDetails,
  ItemDetails,
  ItemStatus,
  MessageDetails,
  PlanDetails,
  PlanStep,
  ReasoningDetails,
  ThreadItem,
  ToolCallDetails,
  WarningDetails,
} from "./events/thread-item.js";
export { DEFAULT_RETRY_LIMITS, type RetryLimits } from "./limits.js";
export {
  type CallItem,
  type CallOutputItem,
  type ContentPart,
  type CustomToolCallItem,
  createMessage,
  createOutput,
  type FunctionCallItem,
  type Item,
  isCall,
  isOutput,
  type MessageItem,
  type ToolOutput,
  textOf,
} from "./model/items.js";
export {
  ModelError,
  type ModelErrorCode,
  type ModelErrorOptions,
  type ModelEvent,
  type ModelPort,
  type ModelRequest,
  type OutputFormat,
  type ReasoningOptions,
  type RetryKind,
  type TextOptions,
  type Usage,
} from "./model/model-port.js";
export { backOff, decideRetry } from "./model/retry.js";
export type { CustomSpec, FunctionSpec, HostedSpec, ToolSpec } from "./model/tool-spec.js";
export type { AgentTool, AgentToolSpec, TakenCall, ToolAnswer, ToolContext } from "./tools/agent-tool.js";
