import type { Clock } from "@codex/clock";
import { type CallItem, type CallOutputItem, createOutput, type ToolOutput } from "@codex/model";
import type { CallDecision, ConversationCallOptions, ToolCallResult } from "@codex/orchestrator";
import { messageOf } from "@codex/values";
import type { AgentEvent } from "../events/agent-event.js";
import type { ItemDetails, ItemStatus, PlanDetails } from "../events/thread-item.js";
import { abortedOutput } from "../history/texts.js";
import type { ThreadRecorder } from "../history/thread-entry.js";
import type { AgentTool, AgentToolResult, InterceptedCall, ToolContext } from "../tools/agent-tool.js";
import type { CommandTracker } from "./command-tracker.js";
import { type ResultParts, readParts, withImages } from "./result-parts.js";
import { joinWords } from "./shell-words.js";
import { fromHooks, type ThreadHooks, toHooks } from "./thread-hooks.js";
import type { ThreadPlace } from "./thread-place.js";
import { inputOf, type ParsedInput, parseInput, type ToolTable } from "./tool-table.js";

/** Effects of calls on their turn. */
export interface TurnHooks {
  /** Aborted when the turn ends. */
  readonly signal: AbortSignal;
  /** Called when the user ends the turn in an approval prompt. */
  readonly onCancelled: () => void;
  /** Shows the plan, which is one item per turn. */
  readonly showPlan: (details: PlanDetails) => Promise<void>;
  /** Adds a text of a hook to the history. */
  readonly addContext: (text: string) => Promise<void>;
}

/** Context shared by the calls of a turn. */
export interface CallRunnerContext extends TurnHooks {
  readonly place: ThreadPlace;
  readonly table: ToolTable;
  readonly own: readonly AgentTool[];
  readonly commands: CommandTracker;
  readonly recorder: ThreadRecorder;
  readonly clock: Clock;
  /** Detail at which the model receives images of results. */
  readonly imageDetail: "original" | "high";
  /** Commands run in login shells; for display only. */
  readonly login: boolean;
  readonly emit: (event: AgentEvent) => Promise<void>;
  readonly nextItemId: () => string;
  /** Identify the thread for its commands. */
  readonly variables: Readonly<Record<string, string>>;
  readonly hooks: ThreadHooks | undefined;
}

/** A call that is ready to run. */
export interface PreparedCall {
  readonly exclusive: boolean;
  /** Never rejects: failures are reported in the output. */
  run(): Promise<CallOutputItem>;
}

/** Routes a call to its tool. Has no effects before `run`. */
export function prepareCall(call: CallItem, context: CallRunnerContext): PreparedCall {
  const route = context.table.find(call);
  switch (route.kind) {
    case "unknown":
      return ready(call, context, false, () => Promise.resolve(unknownTool(route.name, context.table)));
    case "own": {
      const { tool } = route;
      const input = parseInput(call, tool.spec.grammar !== undefined);
      return ready(call, context, tool.exclusive ?? false, (onDecision) =>
        callOwn(call, tool, input, context, onDecision),
      );
    }
    case "orchestrator": {
      const input = parseInput(call, false);
      const args = input.kind === "ok" ? input.args : undefined;
      const intercepted = args === undefined ? undefined : interceptCall(route.name, args, context.own);
      if (intercepted !== undefined) {
        return ready(call, context, intercepted.exclusive ?? false, (onDecision) =>
          runIntercepted(call, route.name, args ?? {}, intercepted, context, onDecision),
        );
      }
      return ready(call, context, false, (onDecision) => callOrchestrator(call, route.name, args, context, onDecision));
    }
  }
}

function interceptCall(name: string, args: Readonly<Record<string, unknown>>, own: readonly AgentTool[]) {
  for (const tool of own) {
    const intercepted = tool.intercept?.(name, args);
    if (intercepted !== undefined) return intercepted;
  }
  return undefined;
}

function ready(
  call: CallItem,
  context: CallRunnerContext,
  exclusive: boolean,
  execute: (onDecision: OnDecision) => Promise<ToolOutput>,
): PreparedCall {
  const { clock, recorder, signal } = context;
  const run = async (): Promise<CallOutputItem> => {
    if (signal.aborted) return createOutput(call, abortedOutput(0, "The call was not started. Nothing was run."));
    const began = clock.now();
    const { call_id: callId, name } = call;
    await recorder.append({ type: "call_started", callId, name, environment: environmentOf(call, context) });
    let decision: CallDecision | undefined;
    const onDecision = (latest: CallDecision) => {
      decision = latest;
    };
    const output = await execute(onDecision).catch((error: unknown) => `\`${name}\` failed: ${messageOf(error)}`);
    const wallMs = clock.now() - began;
    // Only reports need this entry: if it cannot be saved, the output must not be lost.
    await recorder.append({ type: "call_finished", callId, wallMs, ...describeDecision(decision) }).catch(() => {});
    if (!signal.aborted) return createOutput(call, output);
    return createOutput(call, abortedOutput(wallMs / 1000, typeof output === "string" ? output : ""));
  };
  return { exclusive, run };
}

/** Called with the decision about a call; the last one counts. */
type OnDecision = (decision: CallDecision) => void;

/** The decision as shown in items and threads. */
const describeDecision = (decision: CallDecision | undefined): { decidedBy?: CallDecision["by"]; rule?: string } => ({
  ...(decision === undefined ? {} : { decidedBy: decision.by }),
  ...(decision === undefined || decision.rules.length === 0 ? {} : { rule: [...new Set(decision.rules)].join("; ") }),
});

function unknownTool(name: string, { names }: ToolTable): string {
  return `There is no tool \`${name}\`. Tools are: ${names.join(", ")}. Nothing was run.`;
}

/** Environment named by a call, or that of its session, or the default. */
function environmentOf(call: CallItem, context: CallRunnerContext): string | undefined {
  const input = parseInput(call, false);
  const args = input.kind === "ok" ? input.args : {};
  if (typeof args.environment_id === "string") return args.environment_id;
  const session = typeof args.session_id === "number" ? context.commands.environmentOf(args.session_id) : undefined;
  return session ?? context.place.default.environment;
}

function callOwn(
  call: CallItem,
  tool: AgentTool,
  input: ParsedInput,
  context: CallRunnerContext,
  onDecision: OnDecision,
): Promise<ToolOutput> {
  if (input.kind === "ok") return runHooked(call, tool, input.args, context, onDecision);
  const output = `Invalid arguments for \`${tool.spec.name}\`: ${input.problem}. Nothing was done.`;
  return runOwn(call, undefined, context, () => Promise.resolve({ output, status: "failed" }), onDecision);
}

/** Runs a call of one of the agent's own tools, about which hooks are asked and told. */
async function runHooked(
  call: CallItem,
  tool: AgentTool,
  given: Readonly<Record<string, unknown>>,
  context: CallRunnerContext,
  onDecision: OnDecision,
): Promise<ToolOutput> {
  const run = (args: Readonly<Record<string, unknown>>) =>
    runOwn(call, args, context, (own) => tool.call(args, own), onDecision);
  const { hooks, signal, addContext } = context;
  if (hooks === undefined) return run(given);
  const { name } = tool.spec;
  const use = await hooks.before(call.call_id, toHooks(name, given), signal, addContext);
  if (use.kind === "blocked") return runBlocked(call, given, use.output, context, onDecision);
  const args = use.input === undefined ? given : fromHooks(name, given, use.input);
  if (args === undefined) return runBlocked(call, given, NOT_CHANGED, context, onDecision);
  return use.after(await run(args));
}

/** Runs a call that one of the agent's own tools has intercepted; hooks are asked about what was intercepted, and as in Codex not told its end. */
async function runIntercepted(
  call: CallItem,
  name: string,
  args: Readonly<Record<string, unknown>>,
  intercepted: InterceptedCall,
  context: CallRunnerContext,
  onDecision: OnDecision,
): Promise<ToolOutput> {
  const { hooks, signal, addContext, own } = context;
  const use = await hooks?.before(call.call_id, toHooks(name, args), signal, addContext);
  if (use?.kind === "blocked") return runBlocked(call, args, use.output, context, onDecision);
  if (use?.input === undefined) return runOwn(call, args, context, intercepted.call, onDecision);
  const changed = fromHooks(name, args, use.input);
  const again = changed && interceptCall(name, changed, own);
  if (again === undefined) return runBlocked(call, args, NOT_CHANGED, context, onDecision);
  return runOwn(call, changed, context, again.call, onDecision);
}

const NOT_CHANGED = "A hook replaced the input by one that this tool does not take. Nothing was run.";

/** Shows a call that a hook blocked. */
const runBlocked = (
  call: CallItem,
  args: Readonly<Record<string, unknown>>,
  output: string,
  context: CallRunnerContext,
  onDecision: OnDecision,
): Promise<ToolOutput> => {
  const decision: CallDecision = { by: "hook", rules: [] };
  return runOwn(call, args, context, () => Promise.resolve({ output, status: "declined", decision }), onDecision);
};

/** Runs a call of the agent's own tool, shown as the item that the tool provides, or as a generic one. */
async function runOwn(
  call: CallItem,
  args: Readonly<Record<string, unknown>> | undefined,
  context: CallRunnerContext,
  run: (own: ToolContext) => Promise<AgentToolResult>,
  onDecision: OnDecision,
): Promise<ToolOutput> {
  const { emit, nextItemId, recorder, signal, showPlan, place } = context;
  const environment = typeof args?.environment_id === "string" ? args.environment_id : place.default.environment;
  const cwd = place.cwdOf(environment);
  const getSelected = (id: string) => (place.includes(id) ? { cwd: place.cwdOf(id) } : undefined);
  const generic = {
    kind: "tool_call" as const,
    callId: call.call_id,
    name: call.name,
    input: inputOf(call),
    environment,
  };
  let id: string | undefined;
  let shown: ItemDetails | undefined;
  // Events are emitted in order, each after the previous one was accepted.
  let emitted: Promise<unknown> = Promise.resolve();
  const emitItem = (
    type: "item_started" | "item_updated" | "item_completed",
    status: ItemStatus,
    details: ItemDetails,
  ) => {
    id ??= nextItemId();
    const item = { id, status, ...details };
    emitted = emitted.then(() => emit({ type, item }));
  };
  const show = (details: ItemDetails) => {
    if (details.kind === "plan") emitted = emitted.then(() => showPlan(details));
    else emitItem(id === undefined ? "item_started" : "item_updated", "in_progress", details);
    shown = details;
  };
  const callId = call.call_id;
  const saveCheckpoint = (checkpoint: object) => recorder.append({ type: "call_checkpoint", callId, checkpoint });
  const result = await run({ callId, signal, cwd, environment, getSelected, show, saveCheckpoint }).catch(
    (error: unknown): AgentToolResult => ({ output: `\`${call.name}\` failed: ${messageOf(error)}`, status: "failed" }),
  );
  const { output, status = "completed", endsTurn, decision } = result;
  if (endsTurn === true) context.onCancelled();
  if (decision !== undefined) onDecision(decision);
  const ending = result.item ?? shown ?? { ...generic, output: typeof output === "string" ? output : "[image]" };
  if (ending.kind !== "plan") {
    if (id === undefined) show(ending);
    emitItem("item_completed", status, { ...ending, ...describeDecision(decision) });
  } else if (ending !== shown) show(ending);
  await emitted;
  return output;
}

async function callOrchestrator(
  call: CallItem,
  name: string,
  args: Readonly<Record<string, unknown>> | undefined,
  context: CallRunnerContext,
  onDecision: OnDecision,
): Promise<ToolOutput> {
  const { commands, place, onCancelled } = context;
  let added: Promise<void> = Promise.resolve();
  let decision: CallDecision | undefined;
  const session = typeof args?.session_id === "number" ? args.session_id : undefined;
  const tracked =
    name === "exec_command"
      ? await commands.start(describeCommand(call, args, context))
      : name === "write_stdin" && session !== undefined
        ? await commands.resume(session)
        : undefined;
  const generic = tracked === undefined ? await startGeneric(call, name, context) : undefined;
  const options: ConversationCallOptions = {
    signal: context.signal,
    variables: { ...context.variables, CODEX_TOOL_CALL_ID: call.call_id },
    ...(context.hooks === undefined ? {} : { hookCaller: context.hooks.callerOf(call.call_id) }),
    onHookContext: (text) => {
      added = added.then(() => context.addContext(text));
    },
    onDecision: (latest) => {
      decision = latest;
      onDecision(latest);
    },
    ...(tracked === undefined ? {} : { onOutput: (output) => tracked.onOutput(output) }),
  };
  const result: ToolCallResult = await place.callTool(name, args ?? inputOf(call), options);
  await added;
  if (result.status === "cancelled") onCancelled();
  await tracked?.finish(result, describeDecision(decision));
  if (name === "kill_session" && session !== undefined) await endSession(session, result, commands);
  const parts = result.isError ? {} : readParts(result.structured);
  if (generic !== undefined) await generic.finish(result, parts, decision);
  else if (name === "write_stdin" && result.isError)
    await (await startGeneric(call, name, context)).finish(result, parts, decision);
  const images = result.isError ? [] : result.images;
  return withImages(withRemark(result.text, name, args ?? {}, context.own), parts, context.imageDetail, images);
}

/** Appends the remarks of the agent's own tools. */
function withRemark(
  text: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  own: readonly AgentTool[],
): string {
  const remarks = own.flatMap((tool) => tool.remark?.(name, args, text) ?? []);
  return remarks.length === 0 ? text : [text.replace(/\n$/, ""), ...remarks].join("\n");
}

function describeCommand(
  call: CallItem,
  args: Readonly<Record<string, unknown>> | undefined,
  context: CallRunnerContext,
) {
  const { place, login } = context;
  const text = (name: string) =>
    typeof args?.[name] === "string" && args[name] !== "" ? String(args[name]) : undefined;
  const environment = text("environment_id") ?? place.default.environment;
  const command = text("cmd") ?? inputOf(call);
  const shell = text("shell") ?? place.hostOf(environment)?.shell.path;
  const isLogin = typeof args?.login === "boolean" ? args.login : login;
  const shownCommand = shell === undefined ? command : joinWords([shell, isLogin ? "-lc" : "-c", command]);
  const cwd = text("workdir") ?? place.cwdOf(environment);
  return { callId: call.call_id, command, shownCommand, cwd, environment };
}

async function endSession(session: number, result: ToolCallResult, commands: CommandTracker): Promise<void> {
  if (result.isError || result.structured === undefined) return;
  const structured: Readonly<Record<string, unknown>> = result.structured;
  if (structured.gone !== true) return;
  await commands.ended(session, structured.outcome as Parameters<CommandTracker["ended"]>[1]); // from the executor's termination receipt
}

/** Shows a call as a generic item. */
async function startGeneric(call: CallItem, name: string, context: CallRunnerContext) {
  const { emit, nextItemId } = context;
  const environment = environmentOf(call, context);
  const { call_id: callId } = call;
  const item = { id: nextItemId(), kind: "tool_call" as const, callId, name, input: inputOf(call), environment };
  await emit({ type: "item_started", item: { ...item, status: "in_progress" } });
  return {
    async finish(result: ToolCallResult, parts: ResultParts, decision: CallDecision | undefined): Promise<void> {
      const status = DECLINED.has(result.status) ? "declined" : result.isError ? "failed" : "completed";
      const where = result.environment === undefined ? {} : { environment: result.environment };
      const shown = {
        ...item,
        ...where,
        ...parts,
        status,
        output: result.text,
        ...describeDecision(decision),
      } as const;
      await emit({ type: "item_completed", item: shown });
    },
  };
}

const DECLINED: ReadonlySet<string> = new Set(["forbidden", "denied", "cancelled"]);
