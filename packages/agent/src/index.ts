export {
  type AgentFileMetadata,
  type AgentFiles,
  confineFiles,
  type FileCallOptions,
  isMissing,
  type WalkedFiles,
  type WalkOptions,
} from "@codex/file-tools";
export {
  type AiSdkModelOptions,
  backOff,
  buildRequestBody,
  type CallItem,
  type CallOutputItem,
  type ContentPart,
  type Credential,
  type CustomSpec,
  type CustomToolCallItem,
  createAiSdkModel,
  createMessage,
  createOutput,
  createResponsesModel,
  DEFAULT_MODEL_LIMITS,
  DEFAULT_RETRY_LIMITS,
  DEFAULT_STREAM_IDLE_MS,
  decideRetry,
  describeModel,
  type FunctionCallItem,
  type FunctionSpec,
  type HostedSpec,
  type Item,
  isCall,
  isOutput,
  type LanguageModel,
  type MessageItem,
  type ModelBody,
  ModelError,
  type ModelErrorCode,
  type ModelErrorOptions,
  type ModelEvent,
  type ModelFetch,
  type ModelLimits,
  type ModelPort,
  type ModelRequest,
  type ModelResponse,
  type ModelTraits,
  type OutputFormat,
  type Provider,
  ProviderError,
  type ProviderSources,
  type ReasoningOptions,
  type ResolvedProvider,
  type ResponsesModelOptions,
  type RetryKind,
  type RetryLimits,
  resolveProvider,
  type TextOptions,
  type TokenCommand,
  type TokenReader,
  type ToolOutput,
  type ToolSpec,
  textOf,
  type Usage,
} from "@codex/model";
export { type Agent, type AgentOptions, createAgent, type TurnContext } from "./agent.js";
export { frameName } from "./context/framing.js";
export {
  createProjectReader,
  type HomeFiles,
  type ProjectContext,
  type ProjectContextOptions,
  type ProjectPlace,
  type ProjectReader,
} from "./context/project-context.js";
export { findMissingSkills } from "./context/required-skills.js";
export type {
  AgentEvent,
  TurnCompleted,
  TurnEnd,
  TurnError,
  TurnFailed,
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
export { addUsage, NO_USAGE, readUsage } from "./events/usage.js";
export type { FileEnvironment, FileEnvironments, FileSandboxes } from "./files/file-place.js";
export { BASE_INSTRUCTIONS } from "./history/base-instructions.js";
export { COMPACT_PROMPT } from "./history/compaction.js";
export type { ContextSection } from "./history/context-sections.js";
export {
  type ContextEnvironment,
  describePermissions,
  type EnvironmentContext,
  type PermissionsDescription,
  renderEnvironmentContext,
} from "./history/environment-context.js";
export { type ThreadEntry, type ThreadRecorder, ThreadWriteError } from "./history/thread-entry.js";
export { DEFAULT_TURN_LIMITS, type TurnLimits } from "./limits.js";
export type { RunOptions, SavedThread, Thread, ThreadOptions, TurnResult, TurnRun } from "./thread.js";
export type { AgentTool, AgentToolResult, AgentToolSpec, InterceptedCall, ToolContext } from "./tools/agent-tool.js";
export { createViewImageTool, type ViewImageOptions } from "./tools/image/view-image.js";
export { createApplyPatchTool } from "./tools/patch/apply-patch.js";
export {
  createFilePolicy,
  type FilePolicy,
  type FilePolicyOptions,
  type PatchPermit,
  type PatchPlace,
  type PatchRequest,
} from "./tools/patch/file-policy.js";
export type { PatchOptions } from "./tools/patch/run-patch.js";
export { createUpdatePlanTool } from "./tools/plan/update-plan.js";
