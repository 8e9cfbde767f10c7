import type { SessionOwner } from "@codex/executor-client";
import type { UnifiedExecResult } from "@codex/executor-protocol";
import type { AnalyzedCommand } from "@codex/policy";
import type { AfterDenial } from "../approvals/approver.js";
import type { CommandTerms } from "../decide/command.js";
import type { Decider } from "../decide/decider.js";
import type { Allowed, Refused } from "../decide/decision.js";
import type { ResolvedExec } from "../resolve/exec-command.js";
import type { Selected } from "../resolve/select-executor.js";
import { refuse, type ToolCallResult } from "../result.js";

/** A command that was sent to run in a sandbox. */
export interface SandboxedRun {
  selected: Selected;
  /** The instance of the executor on which it ran. */
  owner: SessionOwner;
  resolved: ResolvedExec;
  command: AnalyzedCommand;
}

export type Rerun =
  /** Run it again, outside. */
  | { kind: "again"; decision: Allowed<CommandTerms>; notice: string }
  /** The result for the model instead. */
  | { kind: "result"; result: ToolCallResult };

/**
 * After a run that may have failed because of its sandbox: if the policy asks in this case, the approver decides whether it
 * runs again outside. It has already run in part, which the request states.
 */
export async function decideRerun(
  { selected, resolved, command }: SandboxedRun,
  result: ToolCallResult,
  signal: AbortSignal | undefined,
  decider: Decider,
): Promise<Rerun> {
  const denial = findDenial(result);
  if (denial === undefined) return { kind: "result", result };
  const after = { denial, reason: describeDenial(denial), command };
  const decision = await decider.command({ selected, resolved, after }, signal);
  if (decision.kind === "allowed") return { kind: "again", decision, notice: describeRerun(denial) };
  return { kind: "result", result: decision.kind === "refused" ? afterRefusal(result, decision) : result };
}

/** What the sandbox refused; undefined while the command runs, if it succeeded anyway, and if nothing is known. */
function findDenial({ status, structured }: ToolCallResult): AfterDenial | undefined {
  if (status !== "success" || structured === undefined || !("sandboxDenied" in structured)) return undefined;
  const { outcome, exitCode, sandboxDenied, sandboxDenial } = structured as UnifiedExecResult;
  if (outcome.kind === "running" || exitCode === 0) return undefined;
  const unnamed = sandboxDenied ? { certain: true, reason: "the sandbox refused something" } : undefined;
  const denial = sandboxDenial ?? unnamed;
  return denial === undefined ? undefined : { ...denial, exitCode };
}

function describeDenial({ certain, reason, exitCode }: AfterDenial): string {
  const what = certain ? reason : `going by its output alone, ${reason}`;
  return `${what}; the command has already run in part${exitCode === undefined ? "" : ` (exit code ${exitCode})`}`;
}

const describeRerun = (denial: AfterDenial): string =>
  `this is a second run, outside the sandbox, as approved; of the first: ${describeDenial(denial)}`;

/** Returns the output of the first run, if there is no second one. */
function afterRefusal(result: ToolCallResult, { code, reason }: Refused): ToolCallResult {
  if (code === "forbidden") return withNotice(result, reason);
  const what = code === "sandbox_unavailable" ? "it cannot run again" : "it did not run again";
  const noticed = withNotice(result, `${what} outside the sandbox: ${reason}`);
  return code === "cancelled" ? refuse("cancelled", noticed.text, { code, reason }) : noticed;
}

/**
 * The result of both runs. The output of the first is kept, whatever the result of the second; a second run that was not
 * started changes nothing.
 */
export function joinRuns(first: ToolCallResult, second: ToolCallResult, notice: string): ToolCallResult {
  if (first.isError) return second;
  if (second.isError && second.status !== "lost") {
    return withNotice(first, `a second run, outside the sandbox, was approved, and failed: ${second.text}`);
  }
  const text = `Note: ${notice}\nFirst run, in the sandbox:\n${first.text}\nSecond run:\n${second.text}`;
  const firstRun = first.structured;
  if (second.isError) return { ...second, text, structured: { ...second.structured, firstRun } };
  const { structured } = second;
  if (structured === undefined) return { ...second, text };
  return { ...second, text, structured: { ...structured, notices: joinNotices(notice, structured), firstRun } };
}

const joinNotices = (notice: string, { notices }: Record<string, unknown> | UnifiedExecResult): unknown[] => [
  notice,
  ...(Array.isArray(notices) ? notices : []),
];

/** Adds a notice at the beginning: the text ends with the output of the program, which must not be changed. */
export function withNotice(result: ToolCallResult, notice: string): ToolCallResult {
  if (result.isError) return result;
  const { structured } = result;
  return {
    ...result,
    text: `Note: ${notice}\n${result.text}`,
    structured: structured === undefined ? undefined : { ...structured, notices: joinNotices(notice, structured) },
  };
}
