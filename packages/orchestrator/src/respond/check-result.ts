import {
  formatProblem,
  PARSE_CONTEXT,
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
