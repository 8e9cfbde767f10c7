import type { Sandbox } from "@codex/executor-protocol";
import type { Config } from "./config.js";
import { type Catalog, ENVIRONMENT_ID } from "./executors/catalog.js";
import type { LiveOutput } from "./executors/live-output.js";
import type { SessionTable } from "./executors/sessions.js";
import { interrupted, obtainPermit, type PermitContext } from "./permit.js";
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
export interface CallContext extends PermitContext {
  config: Config;
  catalog: Catalog;
  sessions: SessionTable;
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
  const permit = await obtainPermit(selected, resolved.value, options.signal, context);
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

/** Undefined where no sandbox is chosen at all; `unable` where the executor would not even read it. */
function selectSandbox(
  { executor }: Selected,
  { cwd, sandboxPermissions, additionalPermissions }: ResolvedExec["request"],
  bypassSandbox: boolean,
  { policy }: CallContext,
): Sandbox | null | undefined | "unable" {
  if (policy.sandbox === undefined) return undefined;
  const environment = executor.name;
  const sandbox = policy.sandbox.select({ environment, cwd, sandboxPermissions, additionalPermissions, bypassSandbox });
  if (executor.initialized) return sandbox;
  return sandbox === null ? undefined : "unable";
}

function invalid(toolName: string, { field, problem }: Rejected): RefusedCall {
  const reason = field === "" ? problem : `field \`${field}\`: ${problem}`;
  const text = `Invalid arguments for \`${toolName}\`: ${reason}. Nothing was run.`;
  const code: RefusalCode = "invalid_arguments";
  return refuse("error", text, { code, ...(field === "" ? {} : { field }), reason });
}
