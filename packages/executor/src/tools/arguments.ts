import type { ParsedArguments } from "@codex/executor-protocol";
import { ToolError } from "../errors.js";
import type { UnifiedExec } from "../sessions/unified-exec.js";
import type { SessionCallScope } from "./session-tool.js";

/** Arguments of a tool as a model sent them. @throws ToolError when they are not an object */
export function asArguments(args: unknown): Readonly<Record<string, unknown>> {
  if (args === undefined || args === null) return {};
  if (typeof args !== "object" || Array.isArray(args)) throw new ToolError("arguments: expected a JSON object");
  return Object.fromEntries(Object.entries(args));
}

/** An argument that is an integer of at least 0. @throws ToolError naming the argument */
export function getCount(args: Readonly<Record<string, unknown>>, name: string, fallback?: number): number {
  const value = args[name] ?? fallback;
  if (value === undefined) throw new ToolError(`argument \`${name}\` is missing: expected an integer of at least 0`);
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const shown = typeof value === "number" ? String(value) : `a ${typeof value}`;
  throw new ToolError(`argument \`${name}\`: expected an integer of at least 0, got ${shown}`);
}

/** Owners of the sessions that a call has access to. */
export const getOwners = ({ sessions }: SessionCallScope, own: UnifiedExec): UnifiedExec[] =>
  sessions === "executor" ? own.all : [own];

/** The owner of a session; the calling orchestrator's own if there is none, for its error message. */
export const findOwner = (scope: SessionCallScope, own: UnifiedExec, id: number): UnifiedExec =>
  getOwners(scope, own).find(({ table }) => table.has(id, scope.client)) ?? own;

/** The wire arguments of a tool with a contract. @throws ToolError naming the field */
export function unwrap<T>(parsed: ParsedArguments<T>, toolName: string): T {
  if (parsed.kind === "ok") return parsed.value;
  throw new ToolError(`arguments of \`${toolName}\`: ${parsed.problem}`);
}
