import type { Sandbox } from "@codex/executor-protocol";
import type { Requirement } from "@codex/policy";
import type { ApprovalResult } from "../approvals/approvals.js";
import type { RefusalCode } from "../result.js";
import { Auditor, decidedBy } from "./audit-trail.js";
import type { CallDecision } from "./noted-decision.js";

/** The audit record of a call that the agent executes itself, such as a patch, and the decision about it. */
export interface OwnCall {
  /** The latest decision. */
  readonly decision: CallDecision;
  judged(verdict: { kind: "allow" } | { kind: "ask" | "refuse"; reason: string }): void;
  decided(approvalId: string, answer: ApprovalResult): void;
  /** To be awaited before the call is executed: why it must not be, if it must be recorded and cannot be. */
  starting(sandbox: Sandbox | null): Promise<string | undefined>;
  /** Records that it was executed, or failed. */
  ended(isDone: boolean): void;
  /** Records that it was not executed. */
  refused(code: "sandbox_unavailable" | "forbidden" | "denied" | "cancelled" | "interrupted", reason: string): void;
}

/** Begins the record of such a call, in which the arguments are a hash. Without an auditor nothing is recorded. */
export function beginOwnCall(
  auditor: Pick<Auditor, "begin"> = new Auditor(undefined, () => ""),
  { tool, environment, args }: { tool: string; environment: string; args: unknown },
): OwnCall {
  const trail = auditor.begin(tool);
  trail.tool(environment, args, undefined);
  let by: CallDecision["by"] = "policy";
  return {
    get decision() {
      return { by, rules: [] };
    },
    judged: (verdict) => trail.judged(toRequirement(verdict), () => []),
    decided(approvalId, answer) {
      trail.decided(approvalId, answer);
      by = decidedBy(answer);
    },
    starting: async (sandbox) => (await trail.sending(sandbox))?.structured.reason,
    ended: (isDone) => trail.answered(isDone ? DONE : createFailure("tool_failed", "error", "")),
    refused(code, reason) {
      trail.ended(createFailure(code, code === "sandbox_unavailable" ? "error" : code, reason));
    },
  };
}

function toRequirement(verdict: Parameters<OwnCall["judged"]>[0]): Requirement {
  const cause = { kind: "policy" } as const;
  if (verdict.kind === "allow") return { kind: "skip", bypassSandbox: false };
  const { reason } = verdict;
  return verdict.kind === "refuse"
    ? { kind: "forbidden", reason, cause }
    : { kind: "needsApproval", reason, cause, asking: null };
}

const DONE = { status: "success", isError: false, text: "", structured: undefined } as const;

const createFailure = (
  code: RefusalCode,
  status: "error" | "forbidden" | "denied" | "cancelled" | "interrupted",
  reason: string,
) => ({ status, isError: true, text: "", structured: { code, reason } }) as const;
