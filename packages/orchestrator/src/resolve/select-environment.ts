import type { Selection } from "../catalog/selection.js";
import type { EnvironmentTable } from "../environments/environment-table.js";
import { closedBeforeSending, fail, interrupted, type ToolCallResult } from "../result.js";
import { type SelectContext, type Selected, selectExecutor } from "./select-executor.js";

/** The executor of a call, or why there is none. `notice`: it is the configured fallback of the intended one. */
export type Placed =
  | { kind: "placed"; selected: Selected; notice?: string }
  | { kind: "result"; result: ToolCallResult };

interface PlaceContext extends SelectContext {
  environments: Pick<EnvironmentTable, "has" | "connect" | "fallbackOf">;
  /** Aborts when the orchestrator is closed. */
  closing: AbortSignal;
}

/** Selects the executor of a call, and attaches it if necessary. Only a configured fallback can replace it. */
export async function selectEnvironment(
  toolName: string,
  args: Record<string, unknown>,
  context: PlaceContext,
  signal: AbortSignal | undefined,
): Promise<Placed> {
  const first = await reach(toolName, args, context, signal);
  if (first.kind === "result") return first;
  if (first.kind === "selected") return { kind: "placed", selected: first };
  const fallback = context.environments.fallbackOf(first.name);
  if (fallback === undefined || !isSelected(fallback, context.selection)) return unusable(first);
  const second = await reach(toolName, args, context, signal, fallback);
  if (second.kind === "unusable") return unusable(first, second);
  if (second.kind === "result") return second;
  const notice = `environment \`${first.name}\` cannot be used (${first.reason}); this ran in \`${fallback}\`, its configured fallback`;
  return { kind: "placed", selected: second, notice };
}

type Unusable = { kind: "unusable"; name: string; reason: string };

async function reach(
  toolName: string,
  args: Record<string, unknown>,
  context: PlaceContext,
  signal: AbortSignal | undefined,
  pinned?: string,
): Promise<Selected | Unusable | { kind: "result"; result: ToolCallResult }> {
  const choice = selectExecutor(toolName, args, context, pinned);
  if (choice.kind !== "unattached") return choice;
  const { name } = choice;
  const connected = await context.environments.connect(name, signal);
  if (connected.kind === "aborted") {
    return { kind: "result", result: context.closing.aborted ? closedBeforeSending() : interrupted() };
  }
  if (connected.kind === "failed") return { kind: "unusable", name, reason: connected.reason };
  // Its tools are known now: if it does not have this one, no other executor gets the call.
  const attached = selectExecutor(toolName, args, context, name);
  if (attached.kind !== "unattached") return attached;
  return { kind: "unusable", name, reason: "it was attached, but is no longer connected" };
}

function unusable(first: Unusable, second?: Unusable): Placed {
  const describe = ({ name, reason }: Unusable) => `Environment \`${name}\` cannot be used: ${reason}.`;
  const also = second === undefined ? "" : ` Its fallback cannot be used either: ${describe(second)}`;
  return { kind: "result", result: fail("executor_offline", `${describe(first)}${also} Nothing was run.`) };
}

const isSelected = (id: string, selection: Selection): boolean =>
  selection === undefined || selection.some((one) => one.id === id);
