import type { CallItem, Item } from "@codex/model";
import { completeCalls } from "../history/sendable.js";
import { lostOutput, recoveredOutput } from "../history/texts.js";
import type { AgentTool, ToolContext } from "../tools/agent-tool.js";
import { parseInput, type ToolTable } from "./tool-table.js";

/** Context of {@link recoverCalls}. */
interface RecoverContext {
  readonly table: ToolTable;
  readonly own: readonly AgentTool[];
  /** Ids of calls that were started; undefined when not recorded. */
  readonly startedCalls: ReadonlySet<string> | undefined;
  /** What calls saved while they ran, by id. */
  readonly checkpoints: ReadonlyMap<string, unknown> | undefined;
  readonly cwd: string | undefined;
  readonly environment: string | undefined;
}

/** Adds outputs for lost calls, with the outcome that their tools can recover. */
export async function recoverCalls(history: readonly Item[], context: RecoverContext): Promise<readonly Item[]> {
  const lost: CallItem[] = [];
  completeCalls(history, (call) => {
    lost.push(call);
    return "";
  });
  const known = new Map<CallItem, string>();
  for (const call of lost) {
    if (context.startedCalls?.has(call.call_id) === false) continue;
    const text = await recover(call, context).catch(() => undefined);
    if (text !== undefined) known.set(call, text);
  }
  return completeCalls(history, (call) => {
    const text = known.get(call);
    return text === undefined ? lostOutput(context.startedCalls?.has(call.call_id)) : recoveredOutput(text);
  });
}

/** Asks the tool of a call for its outcome; undefined when unknown. */
async function recover(call: CallItem, recovering: RecoverContext): Promise<string | undefined> {
  const { table, own, cwd, environment } = recovering;
  const checkpoint = recovering.checkpoints?.get(call.call_id);
  const route = table.find(call);
  const input = parseInput(call, route.kind === "own" && route.tool.spec.grammar !== undefined);
  if (input.kind !== "ok" || route.kind === "unknown") return undefined;
  const { args } = input;
  const named = typeof args.environment_id === "string" ? args.environment_id : environment;
  const { signal } = new AbortController();
  const place = { environment: named, cwd: named === environment ? cwd : undefined };
  const getSelected = (id: string) => ({ cwd: id === environment ? cwd : undefined });
  const nothing = { show: () => {}, saveCheckpoint: async () => {} };
  const context: ToolContext = { callId: call.call_id, signal, ...place, getSelected, ...nothing };
  if (route.kind === "own") return route.tool.recover?.(args, context, checkpoint);
  for (const tool of own) {
    const intercepted = tool.intercept?.(route.name, args);
    if (intercepted !== undefined) return intercepted.recover?.(context, checkpoint);
  }
  return undefined;
}
