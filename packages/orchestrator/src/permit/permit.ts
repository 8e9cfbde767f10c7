import type { Clock } from "@codex/clock";
import type { Sandbox } from "@codex/executor-protocol";
import type { AnalyzedCommand, Policy, RuleBook } from "@codex/policy";
import {
  analyzeCommand,
  evaluateRequirement,
  findMissingSandbox,
  type GetShellParser,
  type Requirement,
} from "@codex/policy";
import type { ApprovalResult, Decide } from "../approvals/approvals.js";
import type { ApprovalDecision, ApprovalRequest, Approver } from "../approvals/approver.js";
import { copyFrozen, digestRequest } from "../approvals/binding.js";
import { findRuleProblem } from "../approvals/rule-edit.js";
import type { Trail } from "../audit/audit-trail.js";
import type { ResolvedExec } from "../resolve/exec-command.js";
import type { Selected } from "../resolve/select-executor.js";
import { closedBeforeSending, interrupted, type RefusalCode, type RefusedCall, refuse } from "../result.js";
import { chooseSandbox } from "./choose-sandbox.js";

/** Policy and approver for the commands of one environment. */
export interface Ruling {
  policy: Policy;
  rules: RuleBook;
  /** Without one, commands that need approval are denied. */
  approver: Approver | undefined;
}

/** Dependencies of the decision whether a command may run. */
export interface PermitContext extends Omit<Ruling, "approver"> {
  decide: Decide;
  /** Aborts when the orchestrator is closed. */
  closing: AbortSignal;
  clock: Clock;
  shellParser: GetShellParser;
  /** Creates a unique id. */
  newId: () => string;
  /** Audit trail of this call. */
  trail: Trail;
  /** Only judge the call: nothing is sent or remembered. */
  isOnlyJudged: boolean;
}

export type Permit = Granted | { kind: "result"; result: RefusedCall };

export interface Granted {
  kind: "granted";
  bypassSandbox: boolean;
  /** The sandbox sent with the command; absent if the executor does not support sandboxes. */
  sandbox?: Sandbox | null;
  /** Set if it was approved: id of the approval, and digest of what was approved. */
  approval: { id: string; digest: string } | undefined;
  proposedAmendment: readonly string[] | null;
  notices: readonly string[];
  /** The command as policy analyzed it. */
  command: AnalyzedCommand;
}

/** Evaluates the policy, and asks the approver where the policy requires it. */
export async function obtainPermit(
  selected: Selected,
  resolved: ResolvedExec,
  signal: AbortSignal | undefined,
  context: PermitContext,
): Promise<Permit> {
  const { request } = resolved;
  const { executor } = selected;
  const { host } = executor;
  const { policy } = context;
  const command = await analyzeCommand(request.command, host, context.shellParser);
  const rules = context.rules.rulesIn(request.cwd);
  const missingSandbox = findMissingSandbox(executor, request.cwd, command, policy.sandbox);
  const needed = evaluateRequirement(command, {
    approvalPolicy: policy.approvalPolicy,
    sandboxPermissions: request.sandboxPermissions,
    unrestricted: policy.sandbox.unrestricted,
    missingSandbox,
    rules,
    os: host?.os,
  });
  context.trail.judged(needed, () => command.commands.flatMap((words) => rules.match(words)));
  if (needed.kind === "forbidden") {
    return { kind: "result", result: refuseCommand("forbidden", needed.reason, resolved) };
  }
  const bypassSandbox =
    missingSandbox !== undefined || (needed.kind === "skip" ? needed.bypassSandbox : escalates(request));
  const chosen = chooseSandbox(executor, resolved, bypassSandbox, policy);
  if (chosen.kind === "refused") {
    return { kind: "result", result: refuseCommand("sandbox_unavailable", chosen.reason, resolved) };
  }
  const sandbox = "sandbox" in chosen ? { sandbox: chosen.sandbox } : {};
  if (needed.kind === "needsApproval") {
    return askForPermit(selected, resolved, { command, needed, bypassSandbox, ...sandbox }, signal, context);
  }
  return {
    kind: "granted",
    bypassSandbox,
    ...sandbox,
    approval: undefined,
    proposedAmendment: null,
    notices: [],
    command,
  };
}

const escalates = ({ sandboxPermissions }: ResolvedExec["request"]): boolean =>
  sandboxPermissions === "require_escalated";

/** A command that needs approval, and how it would be sent. */
export interface Asked {
  command: AnalyzedCommand;
  needed: Pick<Extract<Requirement, { kind: "needsApproval" }>, "reason" | "cause" | "asking">;
  bypassSandbox: boolean;
  sandbox?: Sandbox | null;
  afterDenial?: ApprovalRequest["afterDenial"];
}

/** Asks for approval. The digest of what is approved is taken before, so that the decision covers exactly that. */
export async function askForPermit(
  selected: Selected,
  resolved: ResolvedExec,
  asked: Asked,
  signal: AbortSignal | undefined,
  context: PermitContext,
): Promise<Permit> {
  const { request, prefixRule } = resolved;
  const { command, needed, bypassSandbox } = asked;
  const proposedAmendment = context.rules.propose(command, needed.asking, prefixRule);
  const question = approvalRequest(selected, resolved, asked, proposedAmendment, context);
  const sandbox = "sandbox" in asked ? { sandbox: asked.sandbox } : {};
  const digest = digestRequest(selected.executor.name, { ...request, ...sandbox });
  // A script of one plain command counts as that command.
  const canonical = command.commands.length === 1 ? (command.commands[0] ?? request.command) : request.command;
  const { closing } = context;
  const given = signal === undefined ? closing : AbortSignal.any([signal, closing]);
  const decision: ApprovalResult = await context.decide(question, { canonical, digest, signal: given });
  context.trail.decided(question.id, decision);
  switch (decision.kind) {
    case "approved":
      return {
        kind: "granted",
        bypassSandbox,
        ...sandbox,
        approval: { id: question.id, digest },
        proposedAmendment,
        notices: await saveRule(decision.rule, command, context),
        command,
      };
    case "denied":
      return refused("denied", `${decision.reason} (asked because ${needed.reason})`, resolved);
    case "cancelled":
      return refused("cancelled", `the ${decision.by} ended the turn`, resolved);
    case "changed":
      return refused("changed", NOT_WHAT_WAS_GRANTED, resolved);
    case "interrupted":
      return { kind: "result", result: closing.aborted ? closedBeforeSending() : interrupted() };
  }
}

/** Saves a rule. If that fails, the command is still approved, and the result has a notice. */
async function saveRule(
  prefix: readonly string[] | undefined,
  command: AnalyzedCommand,
  { rules }: PermitContext,
): Promise<string[]> {
  const problem =
    prefix === undefined ? undefined : (findRuleProblem(prefix, command.commands) ?? (await rules.save(prefix)));
  return problem === undefined ? [] : [`the rule of the approval was not saved: ${problem}`];
}

function approvalRequest(
  { executor, tool }: Selected,
  { request }: ResolvedExec,
  { command, needed, bypassSandbox, sandbox, afterDenial }: Asked,
  proposedAmendment: readonly string[] | null,
  { rules, newId }: PermitContext,
): ApprovalRequest {
  const canSave = proposedAmendment !== null && rules.canSave;
  const save: ApprovalDecision[] = canSave ? ["accept_and_save"] : [];
  return copyFrozen({
    id: newId(),
    toolName: tool.name,
    environment: executor.name,
    command: request.command,
    plainCommands: command.commands,
    cwd: request.cwd,
    tty: request.tty,
    reason: needed.reason,
    cause: needed.cause,
    justification: request.justification,
    sandboxPermissions: bypassSandbox ? "require_escalated" : request.sandboxPermissions,
    additionalPermissions: bypassSandbox ? null : request.additionalPermissions,
    sandbox: sandbox ?? null,
    afterDenial: afterDenial ?? null,
    proposedAmendment,
    availableDecisions: ["accept", "accept_for_session", ...save, "decline", "cancel"],
  });
}

const refused = (status: "denied" | "cancelled" | "changed", reason: string, resolved: ResolvedExec): Permit => ({
  kind: "result",
  result: refuseCommand(status, reason, resolved),
});

/** Why a call is refused whose grant is for another one. */
export const NOT_WHAT_WAS_GRANTED = "the digest of the grant is that of another request";

/** A command that is not run. */
export function refuseCommand(code: keyof typeof REFUSALS, reason: string, { request }: ResolvedExec): RefusedCall {
  const { command, cwd } = request;
  const { status, words } = REFUSALS[code];
  return refuse(status, `${words}: ${reason}. Nothing was run.`, { code, reason, command, cwd });
}

const REFUSALS = {
  forbidden: { status: "forbidden", words: "The command is forbidden" },
  denied: { status: "denied", words: "The command was not approved" },
  cancelled: { status: "cancelled", words: "The command was cancelled" },
  sandbox_unavailable: { status: "error", words: "The command cannot be run as it has to be" },
  changed: { status: "error", words: "The command is not what was approved" },
} as const satisfies Partial<Record<RefusalCode, { status: RefusedCall["status"]; words: string }>>;
