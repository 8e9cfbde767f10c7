export {
  type Agent,
  type AgentOptions,
  createAgent,
  type RunOptions,
  type SavedThread,
  type Thread,
  type ThreadOptions,
  type TurnContext,
  type TurnResult,
  type TurnRun,
} from "./agent.js";
export {
  createProjectReader,
  type HomeFiles,
  type ProjectContext,
  type ProjectContextOptions,
  type ProjectPlace,
  type ProjectReader,
} from "./context/project-context.js";
export {
  type AgentEvent,
  addUsage,
  NO_USAGE,
  type TurnCompleted,
  type TurnEnd,
  type TurnError,
  type TurnFailed,
} from "./events/agent-event.js";
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
export {
  type AgentFileMetadata,
  type AgentFiles,
  type FileCallOptions,
  isMissing,
  type WalkedFiles,
  type WalkOptions,
} from "./files/agent-files.js";
export { confineFiles } from "./files/confined-files.js";
export type { FileEnvironment, FileEnvironments, FileSandboxes } from "./files/file-place.js";
export { BASE_INSTRUCTIONS } from "./history/base-instructions.js";
export { COMPACT_PROMPT } from "./history/compaction.js";
export type { ContextSection } from "./history/context-sections.js";
export {
  describePermissions,
  type EnvironmentContext,
  type EnvironmentDescription,
  type PermissionsDescription,
  renderEnvironmentContext,
} from "./history/environment-context.js";
export type { ThreadEntry, ThreadRecorder } from "./history/thread-entry.js";
export {
  DEFAULT_MODEL_LIMITS,
  DEFAULT_RETRY_LIMITS,
  DEFAULT_STREAM_IDLE_MS,
  DEFAULT_TURN_LIMITS,
  type ModelLimits,
  type RetryLimits,
  type TurnLimits,
} from "./limits.js";
export { type AiSdkModelOptions, createAiSdkModel } from "./model/ai-sdk/ai-sdk-model.js";
export type { LanguageModel } from "./model/ai-sdk/language-model.js";
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
export { describeModel, type ModelTraits } from "./model/model-traits.js";
export type { Credential, Provider, TokenCommand } from "./model/provider/provider.js";
export {
  ProviderError,
  type ProviderSources,
  type ResolvedProvider,
  resolveProvider,
} from "./model/provider/resolve-provider.js";
export type { ModelBody, ModelFetch, ModelResponse } from "./model/responses/model-fetch.js";
export { buildRequestBody } from "./model/responses/request-body.js";
export {
  createResponsesModel,
  type ResponsesModelOptions,
  type TokenReader,
} from "./model/responses/responses-model.js";
export { backOff, decideRetry } from "./model/retry.js";
export type { CustomSpec, FunctionSpec, HostedSpec, ToolSpec } from "./model/tool-spec.js";
export type { AgentTool, AgentToolResult, AgentToolSpec, InterceptedCall, ToolContext } from "./tools/agent-tool.js";
export { createViewImageTool, type ViewImageOptions } from "./tools/image/view-image.js";
export { createApplyPatchTool } from "./tools/patch/apply-patch.js";
export type { FilePolicy, PatchPermit, PatchPlace, PatchRequest } from "./tools/patch/file-policy.js";
export type { PatchOptions } from "./tools/patch/run-patch.js";
export { createUpdatePlanTool } from "./tools/plan/update-plan.js";
