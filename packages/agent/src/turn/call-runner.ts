import type { Clock } from "@codex/clock";
import type { CallDecision, CallToolOptions, Orchestrator, ToolCallResult } from "@codex/orchestrator";
import type { AgentEvent } from "../events/agent-event.js";
import type { ItemDetails, ItemStatus, PlanDetails } from "../events/thread-item.js";
import { abortedOutput } from "../history/texts.js";
import type { ThreadRecorder } from "../history/thread-entry.js";
import { type CallItem, type CallOutputItem, createOutput, type ToolOutput } from "../model/items.js";
import type { AgentTool, AgentToolResult, ToolContext } from "../tools/agent-tool.js";
import type { Commands } from "./commands.js";
import { type ResultParts, readParts, withImages } from "./result-parts.js";
import { joinWords } from "./shell-words.js";
import { inputOf, type ParsedInput, parseInput, type ToolTable } from "./tool-table.js";

/** What a call can do to its turn. */
export interface TurnHooks {
  /** Aborts when the turn is over. */
  readonly signal: AbortSignal;
  /** The user ended the turn where they were asked. */
  readonly onCancelled: () => void;
  /** Shows the plan of the turn, which is one item. */
  readonly showPlan: (details: PlanDetails) => Promise<void>;
}

/** What the calls of a turn share. */
export interface CallContext extends TurnHooks {
  readonly orchestrator: Pick<Orchestrator, "callTool" | "executors">;
  readonly table: ToolTable;
  readonly own: readonly AgentTool[];
  readonly commands: Commands;
  readonly recorder: ThreadRecorder;
  readonly clock: Clock;
  readonly cwd: string | undefined;
  readonly workspaceRoots: readonly string[] | undefined;
  /** The first is the default. */
  readonly environments: CallToolOptions["environments"] | undefined;
  /** How the model takes the pictures of a result. */
  readonly imageDetail: "original" | "high";
  /** Shells read their startup files; for showing only. */
  readonly login: boolean;
  readonly emit: (event: AgentEvent) => Promise<void>;
  readonly nextItemId: () => string;
}

/** A call that is ready to be made. */
export interface PreparedCall {
  readonly exclusive: boolean;
  /** Never rejects: whatever happened is in the output. */
  run(): Promise<CallOutputItem>;
}

/** Finds out who carries a call out, and how. Nothing is done before `run`. */
export function prepareCall(call: CallItem, context: CallContext): PreparedCall {
  const route = context.table.find(call);
  switch (route.kind) {
    case "unknown":
      return ready(call, context, false, () => Promise.resolve(unknownTool(route.name, context.table)));
    case "own": {
      const { tool } = route;
      const input = parseInput(call, tool.spec.grammar !== undefined);
      return ready(call, context, tool.exclusive ?? false, (note) => callOwn(call, tool, input, context, note));
    }
    case "orchestrator": {
      const input = parseInput(call, false);
      const args = input.kind === "ok" ? input.args : undefined;
      const taken = args === undefined ? undefined : interceptCall(route.name, args, context.own);
      if (taken !== undefined) {
        const make = taken.call;
        return ready(call, context, taken.exclusive ?? false, (note) => showAnswer(call, args, context, make, note));
      }
      return ready(call, context, false, (note) => callOrchestrator(call, route.name, args, context, note));
    }
  }
}

function interceptCall(name: string, args: Readonly<Record<string, unknown>>, own: readonly AgentTool[]) {
  for (const tool of own) {
    const taken = tool.intercept?.(name, args);
    if (taken !== undefined) return taken;
  }
  return undefined;
}

function ready(
  call: CallItem,
  context: CallContext,
  exclusive: boolean,
  carryOut: (note: NoteDecision) => Promise<ToolOutput>,
): PreparedCall {
  const { clock, recorder, signal } = context;
  const run = async (): Promise<CallOutputItem> => {
    if (signal.aborted) return createOutput(call, abortedOutput(0, "The call was not started. Nothing was run."));
    const began = clock.now();
    const { call_id: callId, name } = call;
    await recorder.append({ type: "call_started", callId, name, environment: environmentOf(call, context) });
    let decision: CallDecision | undefined;
    const note = (made: CallDecision) => {
      decision = made;
    };
    const output = await carryOut(note).catch((error: unknown) => `\`${name}\` failed: ${describe(error)}`);
    const wallMs = clock.now() - began;
    await recorder.append({ type: "call_finished", callId, wallMs, ...describeDecision(decision) });
    if (!signal.aborted) return createOutput(call, output);
    return createOutput(call, abortedOutput(wallMs / 1000, typeof output === "string" ? output : ""));
  };
  return { exclusive, run };
}

/** Called with what decided about a call; the last one counts. */
type NoteDecision = (decision: CallDecision) => void;

/** What decided, as items and threads show it. */
const describeDecision = (decision: CallDecision | undefined): { decidedBy?: CallDecision["by"]; rule?: string } => ({
  ...(decision === undefined ? {} : { decidedBy: decision.by }),
  ...(decision === undefined || decision.rules.length === 0 ? {} : { rule: [...new Set(decision.rules)].join("; ") }),
});

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function unknownTool(name: string, { names }: ToolTable): string {
  return `There is no tool \`${name}\`. Tools are: ${names.join(", ")}. Nothing was run.`;
}

/** The environment that a call names, or that of its session, or the first. */
function environmentOf(call: CallItem, { orchestrator, commands }: CallContext): string | undefined {
  const input = parseInput(call, false);
  const args = input.kind === "ok" ? input.args : {};
  if (typeof args.environment_id === "string") return args.environment_id;
  const session = typeof args.session_id === "number" ? commands.environmentOf(args.session_id) : undefined;
  return session ?? orchestrator.executors[0]?.name;
}

function callOwn(
  call: CallItem,
  tool: AgentTool,
  input: ParsedInput,
  context: CallContext,
  note: NoteDecision,
): Promise<ToolOutput> {
  if (input.kind === "ok") return showAnswer(call, input.args, context, (own) => tool.call(input.args, own), note);
  const output = `Invalid arguments for \`${tool.spec.name}\`: ${input.problem}. Nothing was done.`;
  return showAnswer(call, undefined, context, () => Promise.resolve({ output, status: "failed" }), note);
}

/** Makes a call of a tool of our own, and shows it as what the tool says, or as a plain call. */
async function showAnswer(
  call: CallItem,
  args: Readonly<Record<string, unknown>> | undefined,
  context: CallContext,
  make: (own: ToolContext) => Promise<AgentToolResult>,
  note: NoteDecision,
): Promise<ToolOutput> {
  const { emit, nextItemId, signal, cwd, orchestrator, showPlan } = context;
  const environment = typeof args?.environment_id === "string" ? args.environment_id : orchestrator.executors[0]?.name;
  const plain = {
    kind: "tool_call" as const,
    callId: call.call_id,
    name: call.name,
    input: inputOf(call),
    environment,
  };
  let id: string | undefined;
  let shown: ItemDetails | undefined;
  // Items are told in order, each after the one before it was taken.
  let told: Promise<unknown> = Promise.resolve();
  const tell = (type: "item_started" | "item_updated" | "item_completed", status: ItemStatus, details: ItemDetails) => {
    id ??= nextItemId();
    const item = { id, status, ...details };
    told = told.then(() => emit({ type, item }));
  };
  const show = (details: ItemDetails) => {
    if (details.kind === "plan") told = told.then(() => showPlan(details));
    else tell(id === undefined ? "item_started" : "item_updated", "in_progress", details);
    shown = details;
  };
  const answer = await make({ callId: call.call_id, signal, cwd, environment, show }).catch(
    (error: unknown): AgentToolResult => ({ output: `\`${call.name}\` failed: ${describe(error)}`, status: "failed" }),
  );
  const { output, status = "completed", endsTurn, decision } = answer;
  if (endsTurn === true) context.onCancelled();
  if (decision !== undefined) note(decision);
  const ending = answer.item ?? shown ?? { ...plain, output: typeof output === "string" ? output : "[image]" };
  if (ending.kind !== "plan") {
    if (id === undefined) show(ending);
    tell("item_completed", status, { ...ending, ...describeDecision(decision) });
  } else if (ending !== shown) show(ending);
  await told;
  return output;
}

async function callOrchestrator(
  call: CallItem,
  name: string,
  args: Readonly<Record<string, unknown>> | undefined,
  context: CallContext,
  note: NoteDecision,
): Promise<ToolOutput> {
  const { commands, orchestrator, onCancelled } = context;
  let decision: CallDecision | undefined;
  const session = typeof args?.session_id === "number" ? args.session_id : undefined;
  const followed =
    name === "exec_command"
      ? await commands.start(describeCommand(call, args, context))
      : name === "write_stdin" && session !== undefined
        ? await commands.resume(session)
        : undefined;
  const plain = followed === undefined ? await startPlain(call, name, context) : undefined;
  const options: CallToolOptions = {
    signal: context.signal,
    onDecision: (made) => {
      decision = made;
      note(made);
    },
    ...(context.cwd === undefined ? {} : { cwd: context.cwd }),
    ...(context.workspaceRoots === undefined ? {} : { workspaceRoots: context.workspaceRoots }),
    ...(context.environments === undefined ? {} : { environments: context.environments }),
    ...(followed === undefined ? {} : { onOutput: (output) => followed.onOutput(output) }),
  };
  const result: ToolCallResult = await orchestrator.callTool(name, args ?? inputOf(call), options);
  if (result.status === "cancelled") onCancelled();
  await followed?.finish(result, describeDecision(decision));
  if (name === "kill_session" && session !== undefined) await endSession(session, result, commands);
  const parts = name.startsWith("mcp__") && !result.isError ? readParts(result.structured) : {};
  if (plain !== undefined) await plain.finish(result, parts, decision);
  else if (name === "write_stdin" && result.isError)
    await (await startPlain(call, name, context)).finish(result, parts, decision);
  return withImages(withRemark(result.text, name, args ?? {}, context.own), parts, context.imageDetail);
}

/** Adds how a thing is done that the call could not do. */
function withRemark(
  text: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  own: readonly AgentTool[],
): string {
  const remarks = own.flatMap((tool) => tool.remark?.(name, args, text) ?? []);
  return remarks.length === 0 ? text : [text.replace(/\n$/, ""), ...remarks].join("\n");
}

function describeCommand(call: CallItem, args: Readonly<Record<string, unknown>> | undefined, context: CallContext) {
  const { orchestrator, cwd, login } = context;
  const text = (name: string) =>
    typeof args?.[name] === "string" && args[name] !== "" ? String(args[name]) : undefined;
  const environment = text("environment_id") ?? orchestrator.executors[0]?.name;
  const command = text("cmd") ?? inputOf(call);
  const host = orchestrator.executors.find(({ name }) => name === environment)?.host;
  const shell = text("shell") ?? host?.shell.path;
  const isLogin = typeof args?.login === "boolean" ? args.login : login;
  const shownCommand = shell === undefined ? command : joinWords([shell, isLogin ? "-lc" : "-c", command]);
  // The directory of the turn is one of the default environment.
  const isElsewhere = environment !== orchestrator.executors[0]?.name;
  const shownCwd = text("workdir") ?? (isElsewhere ? undefined : cwd);
  return { callId: call.call_id, command, shownCommand, cwd: shownCwd, environment };
}

async function endSession(session: number, result: ToolCallResult, commands: Commands): Promise<void> {
  if (result.isError || result.structured === undefined) return;
  const structured: Readonly<Record<string, unknown>> = result.structured;
  if (structured.gone !== true) return;
  await commands.ended(session, structured.outcome as Parameters<Commands["ended"]>[1]); // of the executor's receipt
}

/** Shows a call as an item from now on. */
async function startPlain(call: CallItem, name: string, context: CallContext) {
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
