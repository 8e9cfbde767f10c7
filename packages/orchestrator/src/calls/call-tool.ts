import { MAX_AUDIT_LIST } from "@codex/audit";
import { messageOf, toWellFormed } from "@codex/values";
import { NO_TRAIL } from "../audit/audit-trail.js";
import { noteDecisions } from "../audit/noted-decision.js";
import type { Decider } from "../decide/decider.js";
import { CallHooks } from "../hooks/call-hooks.js";
import { parseArguments } from "../resolve/arguments.js";
import { selectEnvironment } from "../resolve/select-environment.js";
import { getTurn } from "../resolve/turn.js";
import { boundWindows } from "../resolve/windows.js";
import { locate } from "../respond/locate.js";
import { fail, interrupted, type RefusedCall, type ToolCallResult } from "../result.js";
import type { CallContext, CallPorts } from "./call-context.js";
import type { CallToolOptions } from "./call-options.js";
import { isForDisplay } from "./display.js";
import { prepareExecCommand } from "./exec-command.js";
import type { HandlerPorts } from "./file-tool-port.js";
import { prepareOtherTool } from "./other-tool.js";
import { invalid, type PrepareCall, type Prepared, stopped } from "./prepared.js";
import { prepareWriteStdin } from "./write-stdin.js";

/** Executes one tool call of a model, from its arguments to its result. Never rejects because of a model or an executor. */
export async function handleToolCall(
  toolName: string,
  args: unknown,
  options: CallToolOptions,
  ports: HandlerPorts,
): Promise<ToolCallResult> {
  const { trail, onOutput } = beginTrail(toolName, options, ports);
  const watch = ports.telemetry.begin(toolName);
  const progress = { isSent: false };
  const { client, approver, grant, hookCaller: caller } = options;
  const callHooks = new CallHooks(ports.hooks, options);
  const own = { ...ports, trail, progress, trace: watch.trace, callHooks };
  const call = onOutput === undefined ? options : { ...options, onOutput };
  const createDecider = (environment: string) =>
    ports.deciders.asking(environment, { client, approver, grant, trail, caller });
  const result = await prepareCall(toolName, args, call, own, createDecider)
    .then(carryOut)
    .then((answered) => callHooks.finish(answered, options.onHookContext))
    .then(toWellFormed, (error: unknown) => failed(error, progress.isSent));
  watch.end(result);
  trail.ended(result);
  return result;
}

const carryOut = async (prepared: Prepared): Promise<ToolCallResult> => {
  switch (prepared.kind) {
    case "ready":
      return prepared.run();
    case "result":
      return prepared.result;
    case "ask":
      throw new Error("it was only judged");
  }
};

/** The audit trail of a call, which also reports to observers. */
export function beginTrail(
  toolName: string,
  { onDecision, onOutput, forDisplay }: CallToolOptions,
  ports: Pick<CallPorts, "auditor" | "observers">,
) {
  if (isForDisplay(toolName, { forDisplay })) return { trail: NO_TRAIL, onOutput };
  const recorded = ports.auditor.begin(toolName);
  const trail = onDecision === undefined ? recorded : noteDecisions(recorded, MAX_AUDIT_LIST, onDecision);
  return ports.observers.begin(toolName, { trail, onOutput });
}

/** The result when a collaborator has thrown, such as rules or a sandbox selector. */
export function failed(error: unknown, isSent: boolean): RefusedCall {
  const what = isSent ? "What the call did is unknown." : "Nothing was run.";
  return fail("internal", `The call failed in the orchestrator: ${messageOf(error)}. ${what}`);
}

/** Resolves a call and decides about it; `run` of what is ready sends it. */
export async function prepareCall(
  toolName: string,
  args: unknown,
  options: CallToolOptions,
  context: Omit<CallContext, "decider"> & Pick<HandlerPorts, "fileTools">,
  createDecider: (environment: string) => Decider,
): Promise<Prepared> {
  if (options.signal?.aborted) return stopped(interrupted());
  const parsed = parseArguments(args, context.config.limits.argumentBytes);
  if (parsed.kind === "rejected") return stopped(invalid(toolName, parsed));
  const { environments: selection, signal, client } = options;
  const { fileTools, catalog } = context;
  const script = fileTools?.findPatch(toolName, parsed.value);
  if (fileTools !== undefined && script !== undefined) {
    return fileTools.prepareScript(script, parsed.value, options, { ...context, createDecider });
  }
  if (fileTools?.offers(toolName, catalog, selection)) {
    return fileTools.prepare(toolName, parsed.value, options, { ...context, createDecider });
  }
  const placed = await selectEnvironment(toolName, parsed.value, { ...context, selection, client }, signal);
  if (placed.kind === "result") return placed;
  const { selected, notice } = placed;
  const { name } = selected.executor;
  const environment = context.catalog.environmentOf(name);
  const config = boundWindows(context.config, options.maxWindowMs);
  const own = { ...context, config, decider: createDecider(environment) };
  const prepared = await prepare(selected, parsed.value, getTurn(options, environment), own);
  const isOneOfSeveral = context.catalog.names(selection).length > 1 && !context.catalog.isAddition(name);
  const at = (result: ToolCallResult) => locate(result, environment, { notice, isOneOfSeveral });
  switch (prepared.kind) {
    case "ready":
      return { kind: "ready", run: async () => at(await prepared.run()) };
    case "result":
      return stopped(at(prepared.result));
    case "ask":
      return prepared;
  }
}

const prepare: PrepareCall = (selected, args, options, context) => {
  switch (selected.tool.contract) {
    case "unified_exec.exec_command":
      return prepareExecCommand(selected, args, options, context);
    case "unified_exec.write_stdin":
      return prepareWriteStdin(selected, args, options, context);
    case undefined:
      return prepareOtherTool(selected, args, options, context);
  }
};
