export { type AiSdkModelOptions, createAiSdkModel } from "./ai-sdk/ai-sdk-model.js";
export type { LanguageModel } from "./ai-sdk/language-model.js";
export { asFunctionItems } from "./function-items.js";
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
} from "./items.js";
export {
  DEFAULT_MODEL_LIMITS,
  DEFAULT_RETRY_LIMITS,
  DEFAULT_STREAM_IDLE_MS,
  type ModelLimits,
  type RetryLimits,
} from "./limits.js";
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
} from "./model-port.js";
export { describeModel, type ModelTraits } from "./model-traits.js";
export type { Credential, Provider, TokenCommand } from "./provider/provider.js";
export {
  ProviderError,
  type ProviderSources,
  type ResolvedProvider,
  resolveProvider,
} from "./provider/resolve-provider.js";
export { chooseReasoning } from "./reasoning.js";
export { backOff, decideRetry } from "./requests/retry.js";
export type { ModelBody, ModelFetch, ModelResponse } from "./responses/model-fetch.js";
export { buildRequestBody } from "./responses/request-body.js";
export {
  createResponsesModel,
  type ResponsesModelOptions,
  type TokenReader,
} from "./responses/responses-model.js";
export type { CustomSpec, FunctionSpec, HostedSpec, ToolSpec } from "./tool-spec.js";
