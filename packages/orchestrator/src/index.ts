export type { AttachedExecutor, AttachOptions, Orchestrator, OrchestratorOptions, RunCommandOptions } from "./api.js";
export type { AfterDenial, ApprovalAnswer, ApprovalDecision, ApprovalRequest, Approver } from "./approvals/approver.js";
export { findRuleProblem } from "./approvals/rule-edit.js";
export {
  type AuditEvent,
  type AuditFiles,
  type AuditLog,
  type AuditLogOptions,
  type AuditOptions,
  type AuditRecord,
  type AuditSink,
  type ChainCheck,
  type ChainHead,
  ChainVerifier,
  createAuditLog,
  createFileSink,
  encodeRecords,
  type FileSinkOptions,
  listAuditFiles,
  parseRecord,
  readAuditLines,
  type TimedEvent,
  verifyAuditFiles,
} from "./audit/index.js";
export type { CallToolOptions } from "./call-tool.js";
export { type Clock, systemClock } from "./clock.js";
export type { OrchestratorDefaults } from "./config.js";
export type { StdioCommand } from "./connect/child.js";
export { connectStdio } from "./connect/stdio.js";
export { connectWebSocket, type WebSocketOptions } from "./connect/websocket.js";
export { createOrchestrator } from "./create-orchestrator.js";
export { createProgramRunner, type ProgramRunner, type ProgramRunnerOptions } from "./create-program-runner.js";
export { OrchestratorError, type OrchestratorErrorCode } from "./errors.js";
export type { ModelTool } from "./executors/catalog.js";
export type { Connector, InitializeOptions } from "./executors/executor.js";
export type { LiveOutput } from "./executors/live-output.js";
export type { ProblemKind, ProtocolProblem } from "./executors/problems.js";
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
export type { ApprovalPolicy, GranularPolicy } from "./policy/approval-policy.js";
export { DANGEROUS_COMMANDS, type DangerousEntry } from "./policy/dangerous.js";
export { PolicyError } from "./policy/errors.js";
export { type GetShellParser, judgedCommand } from "./policy/evaluate.js";
export { type ExplainContext, type ExplainedCommand, type Explanation, explainCommand } from "./policy/explain.js";
export type { JudgedCommand } from "./policy/judged-command.js";
export { KNOWN_SAFE_COMMANDS, type KnownSafeEntry } from "./policy/known-safe.js";
export type { PolicyOptions } from "./policy/policy-options.js";
export { type Cause, type Requirement, type RequirementContext, requirement } from "./policy/requirement.js";
export { effectiveRules, RuleBook, type SaveRule } from "./policy/rule-book.js";
export { createRuleSaver } from "./policy/rule-saver.js";
export { type CheckResult, checkCommand } from "./policy/rules/check-command.js";
export { loadRulePolicy, parseRulePolicy, type RuleLayer } from "./policy/rules/load-policy.js";
export type { BrokenRuleFile, RulePolicy } from "./policy/rules/policy.js";
export type { RuleOrigin } from "./policy/rules/rule.js";
export { renderAllowRule } from "./policy/rules/save-rule.js";
export type { RuleMatch, RulesPort } from "./policy/rules-port.js";
export type { LiteralCommands } from "./policy/shell/literal-commands.js";
export { createLazyShellParser, loadShellParser, type ShellParser } from "./policy/shell/parser.js";
export { FORCED_ENVIRONMENT } from "./resolve/environment.js";
export type {
  AnsweredCall,
  LostCall,
  Refusal,
  RefusalCode,
  RefusedCall,
  StructuredOf,
  ToolCallResult,
} from "./result.js";
export type { RunCommandRequest, RunningCommand, RunOutcome, SandboxDenial } from "./run-command.js";
export { createSandboxSelector } from "./sandbox/create-sandbox-selector.js";
export { DEFAULT_DENY_READ, type DeniedRead } from "./sandbox/deny-read.js";
export { findMissingSandbox, type MissingSandbox } from "./sandbox/missing-sandbox.js";
export type { SandboxedCommand, SandboxRefusal, SandboxSelector, WhenUnavailable } from "./sandbox/sandbox-selector.js";
export type { GitDirectories, SandboxSettings } from "./sandbox/sandbox-settings.js";
