import { MAX_AUDIT_LIST } from "@codex/audit";
import type { Sandbox, ToolContract, WriteStdinRequest } from "@codex/executor-protocol";
import type { TraceContext } from "@codex/telemetry";
import { messageOf, toWellFormed } from "@codex/values";
import type { Approvals, Decide } from "../approvals/approvals.js";
import { copyFrozen } from "../approvals/binding.js";
import { type Auditor, NO_TRAIL } from "../audit/audit-trail.js";
import { noteDecisions } from "../audit/noted-decision.js";
import { type Catalog, ENVIRONMENT_ID } from "../catalog/catalog.js";
import type { Config } from "../config.js";
import type { EnvironmentTable } from "../environments/environment-table.js";
import type { Session, SessionTable } from "../executors/sessions.js";
import type { Observers } from "../observe/observers.js";
import { type Granted, obtainPermit, type PermitContext, type Ruling } from "../permit/permit.js";
import { permitTool } from "../permit/permit-tool.js";
import { joinRuns, offerRerun, type SandboxedRun, withNotice } from "../permit/rerun.js";
import { createTypedShell, refuseInput, type TypedShells } from "../permit/typed-input.js";
import { parseArguments } from "../resolve/arguments.js";
import { type ResolvedExec, resolveExecCommand } from "../resolve/exec-command.js";
import type { Rejected } from "../resolve/resolved.js";
import { selectEnvironment } from "../resolve/select-environment.js";
import type { Selected } from "../resolve/select-executor.js";
import { getTurn } from "../resolve/turn.js";
import { describeSlips, findMisspelt } from "../resolve/unknown-fields.js";
import { boundWindows } from "../resolve/windows.js";
import { doesSomething, resolveWriteStdin } from "../resolve/write-stdin.js";
import { locate } from "../respond/locate.js";
import { lostSession } from "../respond/respond.js";
import { fail, interrupted, type RefusalCode, type RefusedCall, refuse, type ToolCallResult } from "../result.js";
import type { CallToolOptions } from "./call-options.js";
import type { CallTelemetry } from "./call-telemetry.js";
import { isForDisplay } from "./display.js";
import { findChange } from "./find-change.js";
import { sendCall } from "./send-call.js";

/** Dependencies shared by all calls. */
export interface SharedContext
  extends Omit<HandlerContext, "trail" | "trace" | "progress" | "decide" | "isOnlyJudged" | keyof Ruling> {
  auditor: Auditor;
  observers: Observers;
  approvals: Approvals;
  /** Policy and approver of an environment. */
  rulingOf(environment: string): Ruling;
}

/** Dependencies of one call. */
export interface HandlerContext extends PermitContext {
  environments: EnvironmentTable;
  config: Config;
  telemetry: CallTelemetry;
  progress: { isSent: boolean };
  /** Parent of the spans of the call. */
  trace: TraceContext | undefined;
  /** Creates an idempotency key; keys count up. */
  newKey: () => string;
  catalog: Catalog;
  sessions: SessionTable;
  /** How sandboxed sessions were started. */
  sandboxed: WeakMap<Session, SandboxedRun>;
  typedShells: TypedShells;
}

/** Executes one tool call of a model, from its arguments to its result. Never rejects because of a model or an executor. */
export async function handleToolCall(
  toolName: string,
  args: unknown,
  options: CallToolOptions,
  context: SharedContext,
): Promise<ToolCallResult> {
  const { trail, onOutput } = beginTrail(toolName, options, context);
  const watch = context.telemetry.begin(toolName);
  const progress = { isSent: false };
  const own = { ...context, trail, progress, trace: watch.trace, isOnlyJudged: false };
  const result = await routeCall(toolName, args, onOutput === undefined ? options : { ...options, onOutput }, own).then(
    toWellFormed,
    (error: unknown) => failed(error, progress.isSent),
  );
  watch.end(result);
  trail.ended(result);
  return result;
}

/** The audit trail of a call, which also reports to observers. */
export function beginTrail(
  toolName: string,
  { onDecision, onOutput, forDisplay }: CallToolOptions,
  context: SharedContext,
) {
  if (isForDisplay(toolName, { forDisplay })) return { trail: NO_TRAIL, onOutput };
  const recorded = context.auditor.begin(toolName);
  const trail = onDecision === undefined ? recorded : noteDecisions(recorded, MAX_AUDIT_LIST, onDecision);
  return context.observers.begin(toolName, { trail, onOutput });
}

/** The result when a collaborator has thrown, such as rules or a sandbox selector. */
export function failed(error: unknown, isSent: boolean): RefusedCall {
  const what = isSent ? "What the call did is unknown." : "Nothing was run.";
  return fail("internal", `The call failed in the orchestrator: ${messageOf(error)}. ${what}`);
}

/** Resolves a call, obtains permission and sends it. */
export async function routeCall(
  toolName: string,
  args: unknown,
  options: CallToolOptions,
  context: Omit<HandlerContext, "decide" | keyof Ruling> & Pick<SharedContext, "approvals" | "rulingOf">,
  judge?: Decide,
): Promise<ToolCallResult> {
  if (options.signal?.aborted) return interrupted();
  const parsed = parseArguments(args, context.config.limits.argumentBytes);
  if (parsed.kind === "rejected") return invalid(toolName, parsed);
  const { environments: selection, signal, client } = options;
  const placed = await selectEnvironment(toolName, parsed.value, { ...context, selection, client }, signal);
  if (placed.kind === "result") return placed.result;
  const { selected, notice } = placed;
  const { name } = selected.executor;
  const environment = context.catalog.environmentOf(name);
  const ruling = context.rulingOf(environment);
  const approver = options.approver ?? ruling.approver;
  const decide: Decide =
    judge ?? ((request, terms) => context.approvals.decide(request, { ...terms, client }, approver, options.grant));
  const config = boundWindows(context.config, options.maxWindowMs);
  const own = { ...context, policy: ruling.policy, rules: ruling.rules, decide, config };
  const result = await carryOut(selected, parsed.value, getTurn(options, environment), own);
  const isOneOfSeveral = context.catalog.names(selection).length > 1 && !context.catalog.isAddition(name);
  return locate(result, environment, { notice, isOneOfSeveral });
}

/** Executes the call of a tool according to its contract. */
type ExecuteCall = (
  selected: Selected,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: HandlerContext,
) => Promise<ToolCallResult>;

const carryOut: ExecuteCall = (selected, args, options, context) => {
  switch (selected.tool.contract) {
    case "unified_exec.exec_command":
      return execCommand(selected, args, options, context);
    case "unified_exec.write_stdin":
      return writeStdin(selected, args, options, context);
    case undefined:
      return otherTool(selected, args, options, context);
  }
};

const execCommand: ExecuteCall = async (selected, args, options, context) => {
  const { executor, tool } = selected;
  const { config } = context;
  const { cwd: turnCwd, workspaceRoots, variables } = options;
  const resolved = resolveExecCommand(args, { config, host: executor.host, turnCwd, workspaceRoots, variables });
  if (resolved.kind === "rejected") return invalid(tool.name, resolved);
  context.trail.command(executor.name, resolved.value.request);
  const excess = context.sessions.findExcess();
  if (excess !== undefined) return fail("too_many_calls", `${excess} Nothing was run.`);
  const permit = await obtainPermit(selected, resolved.value, options.signal, context);
  if (permit.kind === "result") return permit.result;
  const { owner } = executor;
  const result = await sendPermitted(selected, resolved.value, permit, options, context);
  const session = runningSession(result, context);
  const shell = session && createTypedShell(selected, resolved.value, permit);
  if (session !== undefined && shell !== undefined) context.typedShells.set(session, shell);
  if (permit.sandbox === undefined || permit.sandbox === null) return result;
  const run = { selected, owner, resolved: resolved.value, command: permit.command };
  return followSandboxed(run, result, options, context);
};

/** Sends a command as it was permitted. Exactly what is sent is compared with what was approved; if it differs, nothing is sent. */
async function sendPermitted(
  selected: Selected,
  resolved: ResolvedExec,
  permit: Granted,
  options: CallToolOptions,
  context: HandlerContext,
  isInstanceBound = false,
): Promise<ToolCallResult> {
  const { request, notices } = resolved;
  const { executor } = selected;
  const { bypassSandbox, proposedAmendment, approval } = permit;
  context.trail.command(executor.name, request);
  const wireArguments = copyFrozen({
    ...request,
    execApprovalRequirement: { skip: { bypassSandbox, proposedExecPolicyAmendment: proposedAmendment } },
    ...("sandbox" in permit ? { sandbox: permit.sandbox } : {}),
    ...(executor.initialized && approval !== undefined ? { approvalId: approval.id } : {}),
  });
  const refused = findChange(executor, resolved, approval, wireArguments);
  if (refused !== undefined) return refused;
  const call = {
    wireArguments,
    windowMs: request.yieldTimeMs,
    notices: [...notices, ...permit.notices],
    isInstanceBound,
  };
  return send(selected, call, options, context);
}

/** A session is remembered until its end; an end that the sandbox may have caused can lead to a second run outside. */
async function followSandboxed(
  run: SandboxedRun,
  result: ToolCallResult,
  options: CallToolOptions,
  context: HandlerContext,
): Promise<ToolCallResult> {
  const session = runningSession(result, context);
  if (session !== undefined) context.sandboxed.set(session, run);
  const rerun = await offerRerun(run, result, options.signal, context);
  if (rerun.kind === "result") return rerun.result;
  const { resolved, selected, owner } = run;
  const { executor } = selected;
  // The approval is valid only for the executor of the first run.
  if (executor.owner !== owner || executor.offlineReason !== undefined) {
    const gone = executor.offlineReason ?? "its executor was restarted in the meantime";
    return withNotice(result, `it did not run again outside the sandbox, though that was approved: ${gone}`);
  }
  const again = await sendPermitted(selected, resolved, rerun.permit, options, context, true);
  return joinRuns(result, again, rerun.notice);
}

function runningSession({ structured }: ToolCallResult, { sessions }: HandlerContext): Session | undefined {
  if (structured === undefined || !("processId" in structured)) return undefined;
  return typeof structured.processId === "number" ? sessions.get(structured.processId) : undefined;
}

const writeStdin: ExecuteCall = async (selected, args, options, context) => {
  const { executor, tool, session } = selected;
  const { config, sandboxed, trail } = context;
  trail.tool(executor.name, args, session?.id);
  const resolved = resolveWriteStdin(args, { config });
  if (resolved.kind === "rejected") return invalid(tool.name, resolved);
  const { notices } = resolved.value;
  const { concurrent = false } = options;
  const request = concurrent
    ? { ...resolved.value.request, concurrent, until: "written" as const }
    : resolved.value.request;
  if (concurrent && !executor.can("concurrent_input")) {
    return fail(
      "unsendable",
      `executor \`${executor.name}\` does not accept input during a call that waits. Nothing was written.`,
    );
  }
  const shell = session && context.typedShells.get(session);
  if (shell !== undefined && (request.input !== "" || request.closeStdin === true)) {
    const refused = await refuseInput(
      shell,
      {
        text: request.input,
        isEnd: request.closeStdin === true,
        signal: options.signal,
        session: session?.id ?? request.processId,
      },
      context,
    );
    if (refused !== undefined) return refused;
  }
  const wireArguments = { ...request, processId: session?.processId ?? request.processId };
  const result = await send(selected, { wireArguments, windowMs: request.yieldTimeMs, notices }, options, context);
  const run = session === undefined ? undefined : sandboxed.get(session);
  const isOver = !result.isError && runningSession(result, context) === undefined;
  if (run === undefined || session === undefined || !isOver) return result;
  // The end is reported once, so approval is requested once.
  sandboxed.delete(session);
  return followSandboxed(run, result, options, context);
};

/** Other tools get the model's arguments unchanged, without those that are for the orchestrator. */
const otherTool: ExecuteCall = async (selected, args, options, context) => {
  const environment = context.catalog.environmentOf(selected.executor.name);
  context.trail.tool(environment, args, selected.session?.id);
  const misspelt = findMisspelt(args, selected.tool);
  if (misspelt !== undefined) return invalid(selected.tool.name, misspelt);
  const own = { ...args };
  if (context.catalog.takesEnvironment(selected.tool.name)) delete own[ENVIRONMENT_ID];
  if (selected.session !== undefined) own.session_id = selected.session.processId;
  const { asksApproval = false } = selected.tool;
  const wireArguments = asksApproval ? copyFrozen(own) : own;
  if (asksApproval) {
    const cwd = options.cwd ?? selected.executor.host?.cwd ?? "/";
    const refused = await permitTool(
      selected,
      { args: wireArguments, environment, cwd, signal: options.signal },
      context,
    );
    if (refused !== undefined) return refused;
  }
  const call = { wireArguments, windowMs: undefined, notices: describeSlips(args, selected.tool) };
  // The decision is valid only for this executor.
  return send(selected, asksApproval ? { ...call, isInstanceBound: true } : call, options, context);
};

interface Outgoing {
  wireArguments: Record<string, unknown>;
  /** Undefined for a tool without a contract. */
  windowMs: number | undefined;
  notices: readonly string[];
  /** Not sent to another instance of the executor. */
  isInstanceBound?: boolean;
}

async function send(
  { executor, tool, session }: Selected,
  { wireArguments, windowMs, notices, isInstanceBound = session !== undefined }: Outgoing,
  { signal, onOutput, sessionScope, client }: CallToolOptions,
  { sessions, config, newKey, trail, telemetry, trace, progress, isOnlyJudged }: HandlerContext,
): Promise<ToolCallResult> {
  if (isOnlyJudged) {
    progress.isSent = true;
    return interrupted();
  }
  if (client !== undefined && !executor.can("clients")) {
    const reason = `executor \`${executor.name}\` does not separate the sessions of clients. Nothing was run.`;
    return fail("unsendable", reason);
  }
  const unrecorded = trail.sending(wireArguments.sandbox as Sandbox | null | undefined);
  const refusal = unrecorded === undefined ? undefined : await unrecorded;
  if (refusal !== undefined) return refusal;
  if (session?.state.kind === "lost") {
    const result = lostSession(session, session.state.reason);
    trail.answered(result);
    return result;
  }
  progress.isSent = true;
  // Created right before sending: keys count up, and one that arrives after many later ones counts as a repeat.
  const keyed = executor.initialized ? addKey(tool.contract, wireArguments, newKey) : { arguments: wireArguments };
  const { answerMarginMs, toolAnswerMs } = config.timings;
  const waits =
    windowMs === undefined ? { windowMs: 0, marginMs: toolAnswerMs } : { windowMs, marginMs: answerMarginMs };
  const call = { executor, tool, ...keyed, ...waits, notices, session, signal, onOutput, sessionScope, client };
  const watch = telemetry.send(executor.name, trace);
  const result = await sendCall(
    { ...call, isInstanceBound, trace: watch.trace },
    { sessions, limits: config.limits, timings: config.timings },
  );
  watch.end(result);
  trail.answered(result);
  return result;
}

/** Adds an idempotency key, so that a repeat has no effect; unified-exec tools have it among their arguments. */
function addKey(contract: ToolContract | undefined, args: Record<string, unknown>, newKey: () => string) {
  switch (contract) {
    case "unified_exec.exec_command":
      return { arguments: { ...args, idempotencyKey: newKey() } };
    case "unified_exec.write_stdin":
      return { arguments: doesSomething(args as WriteStdinRequest) ? { ...args, writeId: newKey() } : args };
    case undefined:
      return { arguments: args, idempotencyKey: newKey() };
  }
}

export function invalid(toolName: string, { field, problem }: Rejected): RefusedCall {
  const reason = field === "" ? problem : `field \`${field}\`: ${problem}`;
  const text = `Invalid arguments for \`${toolName}\`: ${reason}. Nothing was run.`;
  const code: RefusalCode = "invalid_arguments";
  return refuse("error", text, { code, ...(field === "" ? {} : { field }), reason });
}
