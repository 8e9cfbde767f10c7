export { createLazyShellParser, type LiteralCommands, loadShellParser, type ShellParser } from "@codex/shell-analysis";
export { analyzeCommand, type GetShellParser } from "./analyze-command.js";
export type { AnalyzedCommand } from "./analyzed-command.js";
export { type ApprovalPolicy, type GranularPolicy, refusingPolicy } from "./approval-policy.js";
export { compileForGate, type RuleSource, type RulesForGate, selectApproved } from "./compile-for-gate.js";
export { describeOutside } from "./describe-outside.js";
export { PolicyError } from "./errors.js";
export { type ExplainContext, type ExplainedCommand, type Explanation, explainCommand } from "./explain.js";
export { evaluateFileChange, type FileChangeContext, type FileChangeVerdict } from "./file-change.js";
export { type LimitedNetwork, limitNetwork, type NetworkOptions } from "./network.js";
export type { Policy, PolicyOptions, PolicyProfile } from "./policy-options.js";
export { type Cause, evaluateRequirement, type Requirement, type RequirementContext } from "./requirement.js";
export { type AskedProgram, createEffectiveRules, type HeldRules, RuleBook, type SaveRule } from "./rule-book.js";
export { createRuleSaver } from "./rule-saver.js";
export {
  type AllowHostRule,
  type AllowRule,
  fileOfRule,
  isSavedAsPrefix,
  renderAllowRule,
  WHOLE_RULES_DIRECTORY,
} from "./rules/allow-rule.js";
export { type CheckResult, checkCommand } from "./rules/check-command.js";
export { loadRulePolicy, parseRulePolicy, type RuleLayer, readRuleText } from "./rules/load-policy.js";
export type { BrokenRuleFile, RulePolicy } from "./rules/policy.js";
export type { RuleOrigin } from "./rules/rule.js";
export { findPrefixBan } from "./rules/saved-rules.js";
export type { RuleMatch, RulesPort } from "./rules-port.js";
export { createSandboxSelector } from "./sandbox/create-sandbox-selector.js";
export { DEFAULT_DENY_READ, type DeniedRead } from "./sandbox/deny-read.js";
export { findMissingSandbox, findNoSandbox, type MissingSandbox } from "./sandbox/missing-sandbox.js";
export { withoutWrites } from "./sandbox/profile-entries.js";
export type { SandboxedCommand, SandboxRefusal, SandboxSelector, WhenUnavailable } from "./sandbox/sandbox-selector.js";
export type { GitDirectories, PermissionProfile, ProfileEntry, SandboxSettings } from "./sandbox/sandbox-settings.js";
export { analyzeTypedLines, changesKeys, TypedLines } from "./typed-lines.js";
