export type { Connector, InitializeOptions, LiveOutput, ProblemKind, ProtocolProblem } from "@codex/executor-client";
export type {
  LeftCommand,
  RunCommandRequest,
  RunningCommand,
  RunOutcome,
  SandboxDenial,
  SessionInput,
} from "@codex/executor-client/programs";
export type {
  Orchestrator,
  OrchestratorOptions,
  RunCommandOptions,
} from "./api.js";
export type {
  AfterDenial,
  ApprovalAnswer,
  ApprovalDecision,
  ApprovalRequest,
  Approver,
  DetailedAnswer,
  Grant,
} from "./approvals/approver.js";
export type { AnsweredElsewhere, ApproverPanel } from "./approvals/approver-panel.js";
export { findRuleProblem } from "./approvals/rule-edit.js";
export { proposedRule, ruleToSave } from "./approvals/rule-to-save.js";
export { type AuditOptions, Auditor, decidedBy, type Trail as AuditTrail } from "./audit/audit-trail.js";
export type { CallDecision } from "./audit/noted-decision.js";
export type { CallToolOptions } from "./calls/call-options.js";
export type { Judgement } from "./calls/judge-call.js";
export type { StartCommandOptions } from "./calls/start-command.js";
export type { ToolCall } from "./calls/tool-call.js";
export type { ModelTool } from "./catalog/catalog.js";
export type { EnvironmentSelection } from "./catalog/selection.js";
export type { OrchestratorDefaults } from "./config.js";
export type { StdioCommand } from "./connect/child.js";
export { connectStdio } from "./connect/stdio.js";
export { connectWebSocket, type WebSocketOptions } from "./connect/websocket.js";
export type { Conversation, ConversationCallOptions, ConversationOptions } from "./conversation.js";
export { createOrchestrator } from "./create-orchestrator.js";
export { createProgramRunner, type ProgramRunner, type ProgramRunnerOptions } from "./create-program-runner.js";
export type { ConnectedEnvironment } from "./environments/connect-environment.js";
export type {
  AttachableEnvironment,
  EnvironmentDescription,
  EnvironmentOptions,
  ExecutorAttachment,
} from "./environments/environment.js";
export { OrchestratorError, type OrchestratorErrorCode } from "./errors.js";
export type { AttachedExecutor, AttachOptions, ExecutorEnd } from "./executors/attached-executor.js";
export type { SessionDescription } from "./executors/describe-session.js";
export type { ExecutorEvents } from "./executors/executor-events.js";
export { AskedCalls } from "./faces/asked-calls.js";
export { endSessions } from "./faces/end-sessions.js";
export { SessionGroup } from "./faces/session-group.js";
export type { ToolCaller, ToolCallerOptions } from "./faces/tool-caller.js";
export type { FileToolName } from "./file-tools/specs.js";
export type { FileConnector, HostFiles } from "./files/file-connector.js";
export type { FileDecision } from "./files/file-decision.js";
export type {
  FileAccessOptions,
  FileChange,
  FileEntry,
  FilePlace,
  FileStat,
  OrchestratorFiles,
} from "./files/orchestrator-files.js";
export { FORCED_ENVIRONMENT } from "./forced-environment.js";
export type { HookCaller } from "./hooks/hook-caller.js";
export {
  DEFAULT_MAX_OUTPUT_TOKENS,
  DEFAULT_MAX_OUTPUT_TOKENS_CAP,
  DEFAULT_ORCHESTRATOR_LIMITS,
  DEFAULT_ORCHESTRATOR_TIMINGS,
  DEFAULT_WINDOW_BOUNDS,
  type OrchestratorLimits,
  type OrchestratorTimings,
  type WindowBounds,
} from "./limits.js";
export type { CallStarted, Observer, OrchestratorEvent } from "./observe/orchestrator-event.js";
export type { CommandStart, StartCommandRequest, StartedCommand } from "./programs/started-command.js";
export {
  type AnsweredCall,
  type AnyStructured,
  type CommandResult,
  type LostCall,
  type NamedToolResult,
  nameResult,
  type Refusal,
  type RefusalCode,
  type RefusedCall,
  type ResultImage,
  type StructuredOf,
  type ToolCallResult,
  type ToolResults,
} from "./result.js";
