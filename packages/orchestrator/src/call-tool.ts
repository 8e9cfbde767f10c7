import type { ApprovalResult, Approvals } from "./approvals/approvals.js";
import type { ApprovalDecision, ApprovalRequest } from "./approvals/approver.js";
import type { Config } from "./config.js";
import { type Catalog, ENVIRONMENT_ID } from "./executors/catalog.js";
import type { LiveOutput } from "./executors/live-output.js";
import type { SessionTable } from "./executors/sessions.js";
import { type GetShellParser, judgedCommand } from "./policy/evaluate.js";
import type { PolicyOptions } from "./policy/policy-options.js";
import { type JudgedCommand, type Requirement, requirement } from "./policy/requirement.js";
import type { RuleBook } from "./policy/rule-book.js";
import { parseArguments } from "./resolve/arguments.js";
import { type ResolvedExec, resolveExecCommand } from "./resolve/exec-command.js";
import type { Rejected } from "./resolve/resolved.js";
import { resolveWriteStdin } from "./resolve/write-stdin.js";
import { fail, type RefusalCode, type RefusedCall, refuse, type ToolCallResult } from "./result.js";
import { type Selected, selectExecutor } from "./select-executor.js";
import { sendCall } from "./send-call.js";

export interface CallToolOptions {
  /** Ends the wait; what was started lives on, and its session id is in the result. */
  signal?: AbortSignal;
  /** Called in order; a promise holds the executor back until it settles. */
  onOutput?: (output: LiveOutput) => void | Promise<void>;
  /** Absolute directory of this turn, on the executor's host. */
  cwd?: string;
  /** `executor`: tools that look at sessions see those of every orchestrator of the executor. Default `own`. */
  sessionScope?: "own" | "executor";
}

/** The collaborators of a call. */
export interface CallContext {
  config: Config;
  policy: PolicyOptions;
  rules: RuleBook;
  catalog: Catalog;
  sessions: SessionTable;
  approvals: Approvals;
  shellParser: GetShellParser;
  /** A fresh unique id. */
  newId: () => string;
}

/** One tool call of a model, from its words to its result. Never rejects for anything a model or executor did. */
export async function handleToolCall(
  toolName: string,
  args: unknown,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> {
  if (options.signal?.aborted) return interrupted();
  const parsed = parseArguments(args, context.config.limits.argumentBytes);
  if (parsed.kind === "rejected") return invalid(toolName, parsed);
  const selected = selectExecutor(toolName, parsed.value, context.catalog, context.sessions);
  if (selected.kind === "result") return selected.result;
  switch (selected.tool.contract) {
    case "unified_exec.exec_command":
      return execCommand(selected, parsed.value, options, context);
    case "unified_exec.write_stdin":
      return writeStdin(selected, parsed.value, options, context);
    case undefined:
      return otherTool(selected, parsed.value, options, context);
  }
}

async function execCommand(
  selected: Selected,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> {
  const { executor, tool } = selected;
  const { config, newId } = context;
  const resolved = resolveExecCommand(args, { config, host: executor.host, turnCwd: options.cwd, newId });
  if (resolved.kind === "rejected") return invalid(tool.name, resolved);
  const permit = await obtainPermit(selected, resolved.value, options, context);
  if (permit.kind === "result") return permit.result;
  const { request, notices } = resolved.value;
  const skip = { bypassSandbox: permit.bypassSandbox, proposedExecPolicyAmendment: permit.proposedAmendment };
  const sandbox = selectSandbox(selected, request, permit.bypassSandbox, context);
  if (sandbox === "unable")
    return fail("unsendable", `Executor \`${executor.name}\` cannot apply a sandbox. Nothing was run.`);
  const wireArguments = {
    ...request,
    execApprovalRequirement: { skip },
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(executor.initialized && permit.approvalId !== undefined ? { approvalId: permit.approvalId } : {}),
  };
  return send(selected, wireArguments, request.yieldTimeMs, [...notices, ...permit.notices], options, context);
}

function writeStdin(
  selected: Selected,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> | ToolCallResult {
  const { executor, tool, session } = selected;
  const { config, newId } = context;
  const resolved = resolveWriteStdin(args, { config, initialized: executor.initialized, newId });
  if (resolved.kind === "rejected") return invalid(tool.name, resolved);
  const { request, notices } = resolved.value;
  const wireArguments = { ...request, processId: session?.processId ?? request.processId };
  return send(selected, wireArguments, request.yieldTimeMs, notices, options, context);
}

/** A tool of the executor's own gets what the model said, without what was only for us. */
function otherTool(
  selected: Selected,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> {
  const own = { ...args };
  if (context.catalog.takesEnvironment(selected.tool.name)) delete own[ENVIRONMENT_ID];
  if (selected.session !== undefined) own.session_id = selected.session.processId;
  return send(selected, own, undefined, [], options, context);
}

function send(
  { executor, tool, session }: Selected,
  wireArguments: Record<string, unknown>,
  windowMs: number | undefined,
  notices: readonly string[],
  { signal, onOutput, sessionScope }: CallToolOptions,
  { sessions, config }: CallContext,
): Promise<ToolCallResult> {
  const { answerMarginMs, toolAnswerMs } = config.timings;
  const waits =
    windowMs === undefined ? { windowMs: 0, marginMs: toolAnswerMs } : { windowMs, marginMs: answerMarginMs };
  const call = { executor, tool, arguments: wireArguments, ...waits, notices, session, signal, onOutput, sessionScope };
  return sendCall(call, { sessions, limits: config.limits, timings: config.timings });
}

type Permit =
  | {
      kind: "granted";
      bypassSandbox: boolean;
      approvalId: string | undefined;
      proposedAmendment: readonly string[] | null;
      notices: readonly string[];
    }
  | { kind: "result"; result: RefusedCall };

/** Policy, and where it asks, a person. */
async function obtainPermit(
  selected: Selected,
  resolved: ResolvedExec,
  options: CallToolOptions,
  context: CallContext,
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
      return askForPermit(selected, resolved, { command, needed }, options, context);
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
  options: CallToolOptions,
  context: CallContext,
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
  const decision: ApprovalResult = await context.approvals.decide(question, canonical, options.signal);
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
async function saveRule(prefix: readonly string[] | undefined, { rules }: CallContext): Promise<string[]> {
  const problem = prefix === undefined ? undefined : await rules.save(prefix);
  return problem === undefined ? [] : [`the rule that was to be saved with the approval is not saved: ${problem}`];
}

function approvalRequest(
  { executor, tool }: Selected,
  { request }: ResolvedExec,
  needed: Asked["needed"],
  proposedAmendment: readonly string[] | null,
  { rules, newId }: CallContext,
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

/** Undefined where no sandbox is chosen at all; `unable` where the executor would not even read it. */
function selectSandbox(
  { executor }: Selected,
  { cwd, sandboxPermissions, additionalPermissions }: ResolvedExec["request"],
  bypassSandbox: boolean,
  { policy }: CallContext,
): Record<string, unknown> | null | undefined | "unable" {
  if (policy.sandbox === undefined) return undefined;
  const environment = executor.name;
  const sandbox = policy.sandbox.select({ environment, cwd, sandboxPermissions, additionalPermissions, bypassSandbox });
  if (executor.initialized) return sandbox;
  return sandbox === null ? undefined : "unable";
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

function invalid(toolName: string, { field, problem }: Rejected): RefusedCall {
  const reason = field === "" ? problem : `field \`${field}\`: ${problem}`;
  const text = `Invalid arguments for \`${toolName}\`: ${reason}. Nothing was run.`;
  const code: RefusalCode = "invalid_arguments";
  return refuse("error", text, { code, ...(field === "" ? {} : { field }), reason });
}

function interrupted(): RefusedCall {
  const reason = "the call was interrupted before anything was sent";
  return refuse("interrupted", `Interrupted: ${reason}. Nothing was run.`, { code: "interrupted", reason });
}
