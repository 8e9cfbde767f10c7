import type { Sandbox } from "@codex/executor-protocol";
import type { TraceContext } from "@codex/telemetry";
import { copyFrozen, digestRequest } from "./approvals/binding.js";
import type { Auditor } from "./audit/trail.js";
import type { CallTelemetry } from "./call-telemetry.js";
import type { Config } from "./config.js";
import { type Catalog, ENVIRONMENT_ID } from "./executors/catalog.js";
import type { LiveOutput } from "./executors/live-output.js";
import type { Session, SessionTable } from "./executors/sessions.js";
import { type Granted, interrupted, obtainPermit, type PermitContext, refuseCommand } from "./permit.js";
import { offerRerun, type SandboxedRun } from "./rerun.js";
import { parseArguments } from "./resolve/arguments.js";
import { type ResolvedExec, resolveExecCommand } from "./resolve/exec-command.js";
import type { Rejected } from "./resolve/resolved.js";
import { resolveWriteStdin } from "./resolve/write-stdin.js";
import { type RefusalCode, type RefusedCall, refuse, type ToolCallResult } from "./result.js";
import { type Selected, selectExecutor } from "./select-executor.js";
import { sendCall } from "./send-call.js";

export interface CallToolOptions {
  /** Ends the wait; what was started lives on, and its session id is in the result. */
  signal?: AbortSignal;
  /** Called in order; a promise holds the executor back until it settles. */
  onOutput?: (output: LiveOutput) => void | Promise<void>;
  /** Absolute directory of this turn, on the executor's host. */
  cwd?: string;
  /** Absolute directories that belong to this turn, for the sandbox; default `cwd`. */
  workspaceRoots?: readonly string[];
  /** `executor`: tools that look at sessions see those of every orchestrator of the executor. Default `own`. */
  sessionScope?: "own" | "executor";
}

/** The collaborators of all calls. */
export interface CallsContext extends Omit<CallContext, "trail" | "trace"> {
  auditor: Auditor;
}

/** The collaborators of a call. */
export interface CallContext extends PermitContext {
  config: Config;
  telemetry: CallTelemetry;
  /** What the call is part of. */
  trace: TraceContext | undefined;
  /** A fresh key for what must not happen twice; keys count up. */
  newKey: () => string;
  catalog: Catalog;
  sessions: SessionTable;
  /** Sessions in a sandbox, as they were started. */
  sandboxed: WeakMap<Session, SandboxedRun>;
}

/** One tool call of a model, from its words to its result. Never rejects for anything a model or executor did. */
export async function handleToolCall(
  toolName: string,
  args: unknown,
  options: CallToolOptions,
  context: CallsContext,
): Promise<ToolCallResult> {
  const trail = context.auditor.begin(toolName);
  const watch = context.telemetry.begin(toolName);
  const result = await routeCall(toolName, args, options, { ...context, trail, trace: watch.trace });
  watch.end(result);
  trail.ended(result);
  return result;
}

async function routeCall(
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
  const { config, newKey: newId } = context;
  const { cwd: turnCwd, workspaceRoots } = options;
  const resolved = resolveExecCommand(args, { config, host: executor.host, turnCwd, workspaceRoots, newId });
  if (resolved.kind === "rejected") return invalid(tool.name, resolved);
  context.trail.command(executor.name, resolved.value.request);
  const permit = await obtainPermit(selected, resolved.value, options.signal, context);
  if (permit.kind === "result") return permit.result;
  const result = await sendPermitted(selected, resolved.value, permit, options, context);
  if (permit.sandbox === undefined || permit.sandbox === null) return result;
  return followSandboxed({ selected, resolved: resolved.value, command: permit.command }, result, options, context);
}

/** Sends a command as it was permitted: what is sent is what is compared. One that is not what was approved is not sent. */
async function sendPermitted(
  selected: Selected,
  resolved: ResolvedExec,
  permit: Granted,
  options: CallToolOptions,
  context: CallContext,
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
  if (approval !== undefined && digestRequest(executor.name, wireArguments) !== approval.digest) {
    return refuseCommand(
      "changed",
      "its directory, environment or sandbox changed while it was decided about",
      resolved,
    );
  }
  return send(selected, wireArguments, request.yieldTimeMs, [...notices, ...permit.notices], options, context);
}

/** A session is remembered until its end; an end that may be the sandbox's doing can lead to a second run outside. */
async function followSandboxed(
  run: SandboxedRun,
  result: ToolCallResult,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> {
  const session = runningSession(result, context);
  if (session !== undefined) context.sandboxed.set(session, run);
  const rerun = await offerRerun(run, result, options.signal, context);
  if (rerun.kind === "result") return rerun.result;
  const { resolved, selected } = run;
  const request = { ...resolved.request, ...(executorKnowsKeys(selected) ? { idempotencyKey: context.newKey() } : {}) };
  const again = { ...resolved, request, notices: [rerun.notice] };
  return sendPermitted(selected, again, rerun.permit, options, context);
}

const executorKnowsKeys = ({ executor }: Selected): boolean => executor.initialized;

function runningSession({ structured }: ToolCallResult, { sessions }: CallContext): Session | undefined {
  if (structured === undefined || !("processId" in structured)) return undefined;
  return typeof structured.processId === "number" ? sessions.get(structured.processId) : undefined;
}

async function writeStdin(
  selected: Selected,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> {
  const { executor, tool, session } = selected;
  const { config, newKey: newId, sandboxed, trail } = context;
  trail.tool(executor.name, args, session?.id);
  const resolved = resolveWriteStdin(args, { config, initialized: executor.initialized, newId });
  if (resolved.kind === "rejected") return invalid(tool.name, resolved);
  const { request, notices } = resolved.value;
  const wireArguments = { ...request, processId: session?.processId ?? request.processId };
  const result = await send(selected, wireArguments, request.yieldTimeMs, notices, options, context);
  const run = session === undefined ? undefined : sandboxed.get(session);
  const isOver = !result.isError && runningSession(result, context) === undefined;
  if (run === undefined || session === undefined || !isOver) return result;
  // One answer tells the end, and once is it asked about.
  sandboxed.delete(session);
  return followSandboxed(run, result, options, context);
}

/** A tool of the executor's own gets what the model said, without what was only for us. */
function otherTool(
  selected: Selected,
  args: Record<string, unknown>,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> {
  context.trail.tool(selected.executor.name, args, selected.session?.id);
  const own = { ...args };
  if (context.catalog.takesEnvironment(selected.tool.name)) delete own[ENVIRONMENT_ID];
  if (selected.session !== undefined) own.session_id = selected.session.processId;
  return send(selected, own, undefined, [], options, context);
}

async function send(
  { executor, tool, session }: Selected,
  wireArguments: Record<string, unknown>,
  windowMs: number | undefined,
  notices: readonly string[],
  { signal, onOutput, sessionScope }: CallToolOptions,
  { sessions, config, newKey, trail, telemetry, trace }: CallContext,
): Promise<ToolCallResult> {
  const unrecorded = trail.sending(wireArguments.sandbox as Sandbox | null | undefined);
  const refusal = unrecorded === undefined ? undefined : await unrecorded;
  if (refusal !== undefined) return refusal;
  // Tools of the contract carry one in their arguments.
  const idempotencyKey = tool.contract === undefined && executor.initialized ? newKey() : undefined;
  const { answerMarginMs, toolAnswerMs } = config.timings;
  const waits =
    windowMs === undefined ? { windowMs: 0, marginMs: toolAnswerMs } : { windowMs, marginMs: answerMarginMs };
  const call = { executor, tool, arguments: wireArguments, ...waits, notices, session, signal, onOutput, sessionScope };
  const watch = telemetry.send(executor.name, trace);
  const result = await sendCall(
    { ...call, idempotencyKey, trace: watch.trace },
    { sessions, limits: config.limits, timings: config.timings },
  );
  watch.end(result);
  trail.answered(result);
  return result;
}

function invalid(toolName: string, { field, problem }: Rejected): RefusedCall {
  const reason = field === "" ? problem : `field \`${field}\`: ${problem}`;
  const text = `Invalid arguments for \`${toolName}\`: ${reason}. Nothing was run.`;
  const code: RefusalCode = "invalid_arguments";
  return refuse("error", text, { code, ...(field === "" ? {} : { field }), reason });
}
