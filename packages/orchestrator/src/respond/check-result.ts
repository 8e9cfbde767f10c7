import {
  formatProblem,
  PARSE_CONTEXT,
  SESSION_TOOL_RESULTS,
  type UnifiedExecResult,
  unifiedExecResultSchema,
} from "@codex/executor-protocol";
import { safeParse } from "zod/mini";

/** A structured unified-exec result that can be trusted to be consistent, or the contradiction in it. */
export function checkResult(structured: unknown): UnifiedExecResult | string {
  const parsed = safeParse(unifiedExecResultSchema, structured, PARSE_CONTEXT);
  if (!parsed.success) return `in \`structured\`: ${formatProblem(parsed.error, structured)}`;
  const { outcome, exitCode, processId, range, omitted } = parsed.data;
  const ended = outcome.kind === "exited" || outcome.kind === "signaled";
  if (exitCode !== undefined && !ended) return `exitCode ${exitCode} with outcome \`${outcome.kind}\``;
  if (outcome.kind === "exited" && exitCode !== undefined && exitCode !== outcome.code) {
    return `exitCode ${exitCode} with outcome \`exited\` and code ${outcome.code}`;
  }
  if (processId === undefined && outcome.kind === "running") return "outcome `running` without a processId";
  const backwards = [range, ...omitted].some(({ from, to }) => from > to);
  return backwards ? "a byte range that ends before it begins" : parsed.data;
}

/** The problem of the structured result of another standard tool; undefined if it has none, and for tools of others. */
export function findResultProblem(toolName: string, structured: unknown): string | undefined {
  if (structured === undefined || !isSessionTool(toolName)) return undefined;
  const parsed = safeParse(SESSION_TOOL_RESULTS[toolName], structured, PARSE_CONTEXT);
  return parsed.success ? undefined : `in \`structured\`: ${formatProblem(parsed.error, structured)}`;
}

/** A standard tool without a contract. */
export type SessionToolName = keyof typeof SESSION_TOOL_RESULTS;

export const isSessionTool = (name: string): name is SessionToolName => Object.hasOwn(SESSION_TOOL_RESULTS, name);
