import type { Sandbox, SandboxPermissions } from "@codex/executor-protocol";
import type { ApprovalPolicy } from "./approval-policy.js";
import type { SaveRule } from "./rule-book.js";
import type { RulePolicy } from "./rules/index.js";

export interface PolicyOptions {
  approvalPolicy: ApprovalPolicy;
  /** As `loadRulePolicy` reads them. What its `broken` files may have forbidden is asked. */
  rules?: RulePolicy;
  /** Where the decision `accept_and_save` puts a rule, such as `createRuleSaver`; without it nobody is offered that. */
  saveRule?: SaveRule;
  /** Chooses the sandbox of each command. Without one nothing is sandboxed, and policy counts on none. */
  sandbox?: SandboxSelector;
}

export interface SandboxSelector {
  /** True when what is selected holds nothing back. */
  readonly unrestricted: boolean;
  /** The sandbox an executor is handed for one command; null for none. Pure. */
  select(command: SandboxedCommand): Sandbox | null;
}

export interface SandboxedCommand {
  environment: string;
  cwd: string;
  sandboxPermissions: SandboxPermissions;
  additionalPermissions: Readonly<Record<string, unknown>> | null;
  /** Policy or a person let it run outside. */
  bypassSandbox: boolean;
}
