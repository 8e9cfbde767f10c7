import type { ExecutorConnection, LearnedTool } from "@codex/executor-client";
import { type Catalog, ENVIRONMENT_ID } from "../catalog/catalog.js";
import type { Selection } from "../catalog/selection.js";
import type { EnvironmentTable } from "../environments/environment-table.js";
import type { Session, SessionTable } from "../executors/sessions.js";
import { isObject } from "../json.js";
import { lostSession, offline } from "../respond/respond.js";
import { fail, refuse, type ToolCallResult } from "../result.js";

/** The executor of a call. `session`: the one in the arguments, if it is known. */
export interface Selected {
  kind: "selected";
  executor: ExecutorConnection;
  tool: LearnedTool;
  session: Session | undefined;
}

/** `unattached`: the executor has to be attached, or attached again, before anything is sent. */
export type ExecutorChoice =
  | Selected
  | { kind: "result"; result: ToolCallResult }
  | { kind: "unattached"; name: string };

export interface SelectContext {
  catalog: Catalog;
  sessions: SessionTable;
  environments: Pick<EnvironmentTable, "has">;
  selection: Selection;
  /** The client of the call, which has access only to its own sessions. */
  client?: string | undefined;
}

/**
 * The executor of a call: the owner of the session it names, else the one `environment_id` names, else the first that
 * offers the tool. One that is offline is not replaced by another: a command must not run on a host it was not meant for.
 * @param pinned instead of what `environment_id` names
 */
export function selectExecutor(
  toolName: string,
  args: Record<string, unknown>,
  context: SelectContext,
  pinned?: string,
): ExecutorChoice {
  const { catalog, environments, selection } = context;
  const offering = catalog.offering(toolName, selection);
  const [first] = offering;
  if (first === undefined) return result(notOffered(toolName, context));
  const asked = catalog.takesEnvironment(toolName, selection) ? args[ENVIRONMENT_ID] || undefined : undefined;
  const named = pinned ?? asked;
  const primary = catalog.isAddition(first) ? undefined : selection?.[0]?.id;
  if (named === undefined && primary !== undefined && !catalog.names(selection).includes(primary)) {
    const reason = `environment \`${primary}\`, the default of this turn, no longer exists. Nothing was run.`;
    return result(fail("no_environment", reason));
  }
  const chosen = named === undefined ? first : offering.find((name) => name === named);
  if (chosen === undefined) return result(unknownEnvironment(toolName, named, offering));
  const tool = catalog.toolOf(chosen, toolName);
  const session = sessionOf(args, tool, context);
  if (session !== undefined) {
    const { name } = session.owner;
    const elsewhere = named !== undefined && name !== named ? `, not \`${String(named)}\`` : undefined;
    const hidden = selection?.every(({ id }) => id !== name) ? ", which is not selected" : undefined;
    const problem = elsewhere ?? hidden;
    if (problem === undefined) return selectOwner(session, toolName, catalog);
    const reason = `session ${session.id} belongs to environment \`${name}\`${problem}`;
    return result(refuse("error", reason, { code: "invalid_arguments", field: ENVIRONMENT_ID, reason }));
  }
  const executor = catalog.get(chosen);
  if (environments.has(chosen) && executor?.offlineReason !== undefined) return { kind: "unattached", name: chosen };
  if (executor !== undefined) return select(executor, toolName);
  // No executor, no sessions.
  if (tool?.contract !== "unified_exec.write_stdin") return { kind: "unattached", name: chosen };
  return result(fail("tool_failed", `unknown session ${String(args.session_id)} of environment \`${chosen}\``));
}

/** Why no environment can take the call. */
function notOffered(toolName: string, { catalog, selection }: SelectContext): ToolCallResult {
  if (selection === undefined || catalog.offering(toolName).length === 0) {
    return fail("unknown_tool", unknownTool(toolName, catalog, selection));
  }
  const selected = selection.map(({ id }) => `\`${id}\``).join(", ");
  const reason =
    selected === ""
      ? `no environment is selected, and \`${toolName}\` needs one. Nothing was run.`
      : `no selected environment (${selected}) offers \`${toolName}\`. Nothing was run.`;
  return fail("no_environment", reason);
}

function selectOwner(session: Session, toolName: string, catalog: Catalog): ExecutorChoice {
  const owner = catalog.all.find((executor) => executor.owner === session.owner);
  if (owner?.offlineReason === undefined && owner?.tools.has(toolName)) return select(owner, toolName, session);
  if (owner !== undefined && owner.offlineReason === undefined) {
    const where = `environment \`${owner.name}\`, where session ${session.id} is`;
    return result(fail("unknown_tool", `${where}, does not offer the tool \`${toolName}\``));
  }
  if (session.state.kind === "ended") return result(offline(session.owner.name, owner?.offlineReason ?? GONE));
  const reason = owner?.offlineReason ?? (session.state.kind === "lost" ? session.state.reason : GONE);
  return result(lostSession(session, reason));
}

const GONE = "it was detached";

function select(executor: ExecutorConnection, toolName: string, session?: Session): ExecutorChoice {
  const tool = executor.tools.get(toolName);
  if (tool === undefined) return result(fail("unknown_tool", `\`${executor.name}\` has no tool \`${toolName}\``));
  if (executor.offlineReason !== undefined) return result(offline(executor.name, executor.offlineReason));
  return { kind: "selected", executor, tool, session };
}

/** The session in the arguments: `session_id` of tools with a contract, and of other tools that declare it. */
function sessionOf(
  args: Record<string, unknown>,
  tool: LearnedTool | undefined,
  { sessions, client }: SelectContext,
): Session | undefined {
  const { session_id: id } = args;
  if (typeof id !== "number" || tool === undefined || tool.contract === "unified_exec.exec_command") return undefined;
  const { properties } = tool.inputSchema;
  const declares = tool.contract !== undefined || (isObject(properties) && "session_id" in properties);
  const session = declares ? sessions.get(id) : undefined;
  // An id of another client's session is treated like an unknown one.
  return client === undefined || session?.client === client ? session : undefined;
}

const result = (value: ToolCallResult): ExecutorChoice => ({ kind: "result", result: value });

function unknownTool(toolName: string, catalog: Catalog, selection: Selection): string {
  const names = catalog.toolNames(selection);
  const known = names.length === 0 ? "no tools are known" : `known tools: ${names.slice(0, NAMES_SHOWN).join(", ")}`;
  return `unknown tool \`${toolName.slice(0, NAME_SHOWN_CHARACTERS)}\`; ${known}`;
}

function unknownEnvironment(toolName: string, named: unknown, offering: readonly string[]): ToolCallResult {
  const names = offering.map((name) => `\`${name}\``).join(", ");
  const shown = typeof named === "string" ? `\`${named.slice(0, NAME_SHOWN_CHARACTERS)}\`` : `a ${typeof named}`;
  const reason = `field \`${ENVIRONMENT_ID}\`: expected one of ${names} for \`${toolName}\`, got ${shown}`;
  return refuse("error", reason, { code: "unknown_environment", field: ENVIRONMENT_ID, reason });
}

/** Characters of an unknown name that are shown to the model. */
const NAME_SHOWN_CHARACTERS = 100;
const NAMES_SHOWN = 50;
