import type { Decide } from "../approvals/approvals.js";
import type { ApprovalRequest } from "../approvals/approver.js";
import { NO_TRAIL } from "../audit/audit-trail.js";
import type { RefusedCall } from "../result.js";
import type { CallToolOptions } from "./call-options.js";
import { failed, routeCall, type SharedContext } from "./call-tool.js";

/** The decision about a call before anything is sent. */
export type Judgement =
  /** It would be sent without approval. */
  | { kind: "allowed" }
  /** Approval is required. `digest` identifies everything that the decision covers: return it in `CallToolOptions.grant`. */
  | { kind: "ask"; request: ApprovalRequest; digest: string }
  /** The policy refuses it; `result` is what `callTool` would return. */
  | { kind: "forbidden"; result: RefusedCall }
  /** It cannot be executed, for example because of an invalid argument or an offline executor. */
  | { kind: "rejected"; result: RefusedCall };

/** Processes a call up to the point where approval would be requested or it would be sent. Changes nothing. */
export async function judgeToolCall(
  toolName: string,
  args: unknown,
  options: CallToolOptions,
  context: SharedContext,
): Promise<Judgement> {
  const progress = { isSent: false };
  let asked: { request: ApprovalRequest; digest: string } | undefined;
  const decide: Decide = async (request, { canonical, digest }) => {
    if (context.approvals.remembers(request, { canonical, client: options.client }))
      return { kind: "approved", by: "session" };
    asked = { request, digest };
    return { kind: "interrupted" };
  };
  const own = { ...context, trail: NO_TRAIL, progress, trace: undefined, isOnlyJudged: true };
  const result = await routeCall(toolName, args, options, own, decide).catch((error: unknown) => failed(error, false));
  if (asked !== undefined) return { kind: "ask", ...asked };
  if (progress.isSent || !result.isError || result.status === "lost") return { kind: "allowed" };
  return { kind: result.status === "forbidden" ? "forbidden" : "rejected", result };
}
