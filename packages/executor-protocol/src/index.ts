export { formatArgumentProblem, formatProblem, PARSE_CONTEXT } from "@codex/values/problem";
export { CALL_VARIABLES } from "./call-variables.js";
export { type ExecGate, execGateSchema, type OutsideProfile, type ProgramReport } from "./exec-gate.js";
export {
  type HostActivity,
  type ManagedNetwork,
  managedNetworkSchema,
  type NetworkDenial,
  type NetworkRoute,
} from "./managed-network.js";
export {
  ackSchema,
  type Capability,
  callToolRequestSchema,
  callToolResponseSchema,
  cancelToolRequestSchema,
  capabilitySchema,
  EXECUTOR_PROTOCOL_VERSION,
  EXECUTOR_SUBPROTOCOL,
  type ExecutorMessage,
  errorMessageSchema,
  executorMessageSchema,
  type HostAnswer,
  type HostInfo,
  type HostQuestion,
  type HostVerdict,
  hostAnswerSchema,
  hostInfoSchema,
  hostQuestionSchema,
  hostReportSchema,
  initializeRequestSchema,
  initializeResponseSchema,
  listToolsRequestSchema,
  listToolsResponseSchema,
  type OrchestratorMessage,
  type OutputPosition,
  type OutputStream,
  openExecGateRequestSchema,
  openExecGateResponseSchema,
  orchestratorMessageSchema,
  outputPositionSchema,
  outputStreamSchema,
  type ProgramAnswer,
  type ProgramQuestion,
  type ProgramVerdict,
  programAnswerSchema,
  programQuestionSchema,
  questionWithdrawnSchema,
  requestIdSchema,
  sessionExitedSchema,
  shutdownRequestSchema,
  shutdownResponseSchema,
  toolOutputSchema,
  toolsChangedSchema,
  type UnansweredCall,
  unansweredCallSchema,
} from "./messages.js";
export { type EndedBy, endedBySchema, type ProcessOutcome, processOutcomeSchema } from "./outcome.js";
export { decodeOutputHead, encodeOutputHead, type OutputHead } from "./output-head.js";
export {
  type Parsed,
  type ParsedArguments,
  parseExecCommandRequest,
  parseExecutorMessage,
  parseOrchestratorMessage,
  parseWriteStdinRequest,
} from "./parse.js";
export { type RecordedOutput, recordedOutputSchema } from "./recorded-output.js";
export { describeDeniedHosts, describePrograms } from "./render/exec-result.js";
export { BYTES_PER_TOKEN, estimateTokens, renderOutcome, renderOutput } from "./render/output.js";
export { presentResult, renderFailure, UNKNOWN_SESSION } from "./render/result.js";
export {
  describeLimit,
  describeReached,
  describeUse,
  formatSize,
  type LimitName,
  type ReachedLimit,
  type ResourceLimits,
  type ResourceUse,
  reachedLimitSchema,
  resourceLimitsSchema,
  resourceUseSchema,
  strictest,
} from "./resource-limits.js";
export {
  type Sandbox,
  type SandboxMode,
  type SandboxSupport,
  sandboxModeSchema,
  sandboxSchema,
  sandboxSupportSchema,
} from "./sandbox.js";
export { STANDARD_TOOLS } from "./standard-tools.js";
export { type StyledRun, type StyledScreen, styledScreenSchema } from "./styled-screen.js";
export {
  type KilledSession,
  type ListedSession,
  type OutputPart,
  type Screen,
  SESSION_TOOL_RESULTS,
  type SessionList,
  type StandardToolName,
  type StandardToolResults,
} from "./tool-results.js";
export {
  type ExecutorToolSpec,
  executorToolSpecSchema,
  type ToolCallContent,
  type ToolCallOutcome,
  type ToolContract,
  toolCallContentSchema,
  toolCallOutcomeSchema,
  toolContractSchema,
} from "./tools.js";
export {
  execServerAckSchema,
  execServerClosedSchema,
  execServerPieceSchema,
  openExecServerRequestSchema,
  openExecServerResponseSchema,
  type TunnelMessage,
} from "./tunnel.js";
export { createTunnelClose, createTunnelPiece, deliverTunnelMessage, type TunnelReceiver } from "./tunnel-codec.js";
export {
  type EnvPolicy,
  type ExecApprovalRequirement,
  type ExecCommandRequest,
  type ExecPolicyAmendment,
  envPolicySchema,
  execApprovalRequirementSchema,
  execCommandRequestSchema,
  execPolicyAmendmentSchema,
  type SandboxPermissions,
  type SessionSignal,
  sandboxPermissionsSchema,
  sessionSignalSchema,
  type TerminalSize,
  terminalSizeSchema,
  type WaitUntil,
  type WhenFull,
  type WriteStdinRequest,
  waitUntilSchema,
  whenFullSchema,
  writeStdinRequestSchema,
} from "./unified-exec-request.js";
export {
  type ByteRange,
  byteRangeSchema,
  type OmittedRange,
  type OutputText,
  omittedRangeSchema,
  type Shown,
  type UnifiedExecResult,
  unifiedExecResultSchema,
  type WaitEnded,
  waitEndedSchema,
} from "./unified-exec-result.js";
