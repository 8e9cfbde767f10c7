import { type Catalog, ENVIRONMENT_ID } from "../catalog/catalog.js";
import type { ExecutorConnection } from "../executors/executor-connection.js";
import type { Session, SessionTable } from "../executors/sessions.js";
import type { LearnedTool } from "../executors/tool-list.js";
import { isObject } from "../json.js";
import { lostSession, offline } from "../respond/respond.js";
import { fail, refuse, type ToolCallResult } from "../result.js";

/** Who gets a call. `session` is the one the arguments name, when it is known. */
export interface Selected {
  kind: "selected";
  executor: ExecutorConnection;
  tool: LearnedTool;
  session: Session | undefined;
}

type Selection = Selected | { kind: "result"; result: ToolCallResult };

/**
 * The executor of a call: the owner of the session it names, else the one `environment_id` names, else the first that
 * offers the tool. One that is offline is not replaced by another: a command must not run on a host it was not meant for.
 */
export function selectExecutor(
  toolName: string,
  args: Record<string, unknown>,
  catalog: Catalog,
  sessions: SessionTable,
): Selection {
  const offering = catalog.offering(toolName);
  const [first] = offering;
  if (first === undefined) return result(fail("unknown_tool", unknownTool(toolName, catalog)));
  const named = catalog.takesEnvironment(toolName) ? args[ENVIRONMENT_ID] || undefined : undefined;
  const chosen = named === undefined ? first : offering.find((executor) => executor.name === named);
  if (chosen === undefined) return result(unknownEnvironment(toolName, named, offering));
  const session = sessionOf(args, chosen.tools.get(toolName), sessions);
  if (session === undefined) return select(chosen, toolName, undefined);
  if (named !== undefined && session.owner.name !== named) {
    const reason = `session ${session.id} belongs to environment \`${session.owner.name}\`, not \`${String(named)}\``;
    return result(refuse("error", reason, { code: "invalid_arguments", field: ENVIRONMENT_ID, reason }));
  }
  return selectOwner(session, toolName, catalog);
}

function selectOwner(session: Session, toolName: string, catalog: Catalog): Selection {
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

function select(executor: ExecutorConnection, toolName: string, session: Session | undefined): Selection {
  const tool = executor.tools.get(toolName);
  if (tool === undefined) return result(fail("unknown_tool", `\`${executor.name}\` has no tool \`${toolName}\``));
  if (executor.offlineReason !== undefined) return result(offline(executor.name, executor.offlineReason));
  return { kind: "selected", executor, tool, session };
}

/** Tools of the contract name a session by `session_id`; so do tools beside it that declare it. */
function sessionOf(
  args: Record<string, unknown>,
  tool: LearnedTool | undefined,
  sessions: SessionTable,
): Session | undefined {
  const { session_id: id } = args;
  if (typeof id !== "number" || tool === undefined || tool.contract === "unified_exec.exec_command") return undefined;
  const { properties } = tool.inputSchema;
  const declares = tool.contract !== undefined || (isObject(properties) && "session_id" in properties);
  return declares ? sessions.get(id) : undefined;
}

const result = (value: ToolCallResult): Selection => ({ kind: "result", result: value });

function unknownTool(toolName: string, catalog: Catalog): string {
  const names = [...new Set(catalog.all.flatMap((executor) => [...executor.tools.keys()]))];
  const known = names.length === 0 ? "no tools are known" : `known tools: ${names.slice(0, NAMES_SHOWN).join(", ")}`;
  return `unknown tool \`${toolName.slice(0, NAME_SHOWN_CHARACTERS)}\`; ${known}`;
}

function unknownEnvironment(toolName: string, named: unknown, offering: readonly ExecutorConnection[]): ToolCallResult {
  const names = offering.map((executor) => `\`${executor.name}\``).join(", ");
  const shown = typeof named === "string" ? `\`${named.slice(0, NAME_SHOWN_CHARACTERS)}\`` : `a ${typeof named}`;
  const reason = `field \`${ENVIRONMENT_ID}\`: expected one of ${names} for \`${toolName}\`, got ${shown}`;
  return refuse("error", reason, { code: "unknown_environment", field: ENVIRONMENT_ID, reason });
}

/** What a model made up is repeated to it only in part. */
const NAME_SHOWN_CHARACTERS = 100;
const NAMES_SHOWN = 50;
