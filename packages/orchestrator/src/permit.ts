import type { ApprovalResult, Approvals } from "./approvals/approvals.js";
import type { ApprovalDecision, ApprovalRequest } from "./approvals/approver.js";
import { type GetShellParser, judgedCommand } from "./policy/evaluate.js";
import type { PolicyOptions } from "./policy/policy-options.js";
import { type JudgedCommand, type Requirement, requirement } from "./policy/requirement.js";
import type { RuleBook } from "./policy/rule-book.js";
import type { ResolvedExec } from "./resolve/exec-command.js";
import { type RefusedCall, refuse } from "./result.js";
import type { Selected } from "./select-executor.js";

/** What decides whether a command may run. */
export interface PermitContext {
  policy: PolicyOptions;
  rules: RuleBook;
  approvals: Approvals;
  shellParser: GetShellParser;
  /** A fresh unique id. */
  newId: () => string;
}

export type Permit =
  | {
      kind: "granted";
      bypassSandbox: boolean;
      approvalId: string | undefined;
      proposedAmendment: readonly string[] | null;
      notices: readonly string[];
    }
  | { kind: "result"; result: RefusedCall };

/** Policy, and where it asks, a person. */
export async function obtainPermit(
  selected: Selected,
  resolved: ResolvedExec,
  signal: AbortSignal | undefined,
  context: PermitContext,
): Promise<Permit> {
  const { request } = resolved;
  const { host } = selected.executor;
  const { approvalPolicy, sandbox } = context.policy;
  const command = await judgedCommand(request.command, host, context.shellParser);
  const needed = requirement(command, {
    approvalPolicy,
    sandboxPermissions: request.sandboxPermissions,
    unrestricted: sandbox?.unrestricted ?? true,
    rules: context.rules.rulesIn(request.cwd),
    os: host?.os,
  });
  switch (needed.kind) {
    case "skip": {
      const { bypassSandbox } = needed;
      return { kind: "granted", bypassSandbox, approvalId: undefined, proposedAmendment: null, notices: [] };
    }
    case "forbidden":
      return { kind: "result", result: refuseCommand("forbidden", needed.reason, resolved) };
    case "needsApproval":
      return askForPermit(selected, resolved, { command, needed }, signal, context);
  }
}

interface Asked {
  command: JudgedCommand;
  needed: Extract<Requirement, { kind: "needsApproval" }>;
}

async function askForPermit(
  selected: Selected,
  resolved: ResolvedExec,
  { command, needed }: Asked,
  signal: AbortSignal | undefined,
  context: PermitContext,
): Promise<Permit> {
  const { request, prefixRule } = resolved;
  const refused = (status: "denied" | "cancelled", reason: string): Permit => ({
    kind: "result",
    result: refuseCommand(status, reason, resolved),
  });
  const proposedAmendment = context.rules.propose(command, needed.asking, prefixRule);
  const question = approvalRequest(selected, resolved, needed, proposedAmendment, context);
  // A script of one plain command is that command, however it was written.
  const canonical = command.commands.length === 1 ? (command.commands[0] ?? request.command) : request.command;
  const decision: ApprovalResult = await context.approvals.decide(question, canonical, signal);
  switch (decision.kind) {
    case "approved":
      return {
        kind: "granted",
        bypassSandbox: request.sandboxPermissions === "require_escalated",
        approvalId: question.id,
        proposedAmendment,
        notices: await saveRule(decision.rule, context),
      };
    case "denied":
      return refused("denied", `${decision.reason} (asked because ${needed.reason})`);
    case "cancelled":
      return refused("cancelled", "the user ended the turn");
    case "interrupted":
      return { kind: "result", result: interrupted() };
  }
}

/** The command is approved either way: that a rule could not be saved is only told. */
async function saveRule(prefix: readonly string[] | undefined, { rules }: PermitContext): Promise<string[]> {
  const problem = prefix === undefined ? undefined : await rules.save(prefix);
  return problem === undefined ? [] : [`the rule that was to be saved with the approval is not saved: ${problem}`];
}

function approvalRequest(
  { executor, tool }: Selected,
  { request }: ResolvedExec,
  needed: Asked["needed"],
  proposedAmendment: readonly string[] | null,
  { rules, newId }: PermitContext,
): ApprovalRequest {
  const canSave = proposedAmendment !== null && rules.canSave;
  const save: ApprovalDecision[] = canSave ? ["accept_and_save"] : [];
  return {
    id: newId(),
    toolName: tool.name,
    environment: executor.name,
    command: request.command,
    cwd: request.cwd,
    tty: request.tty,
    reason: needed.reason,
    cause: needed.cause,
    justification: request.justification,
    sandboxPermissions: request.sandboxPermissions,
    additionalPermissions: request.additionalPermissions,
    proposedAmendment,
    availableDecisions: ["accept", "accept_for_session", ...save, "decline", "cancel"],
  };
}

function refuseCommand(
  status: "forbidden" | "denied" | "cancelled",
  reason: string,
  { request }: ResolvedExec,
): RefusedCall {
  const { command, cwd } = request;
  const text = `${REFUSALS[status]}: ${reason}. Nothing was run.`;
  return refuse(status, text, { code: status, reason, command, cwd });
}

const REFUSALS = {
  forbidden: "The command is forbidden",
  denied: "The command was not approved",
  cancelled: "The command was cancelled",
} as const;

export function interrupted(): RefusedCall {
  const reason = "the call was interrupted before anything was sent";
  return refuse("interrupted", `Interrupted: ${reason}. Nothing was run.`, { code: "interrupted", reason });
}
