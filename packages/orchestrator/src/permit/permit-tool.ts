import { refusingPolicy } from "@codex/policy";
import { digestQuestion } from "../approvals/binding.js";
import { createOwnRequest } from "../approvals/own-request.js";
import type { Selected } from "../resolve/select-executor.js";
import { closedBeforeSending, interrupted, type RefusedCall, refuse } from "../result.js";
import { NOT_WHAT_WAS_GRANTED, type PermitContext } from "./permit.js";

/** A call of a tool without a contract, as it would be sent. */
export interface CallToPermit {
  /** Frozen, so that exactly what was approved is sent. */
  args: Readonly<Record<string, unknown>>;
  /** Name of the environment as shown to the approver. */
  environment: string;
  /** Absolute directory of the turn; shown, and part of what a decision for the session covers. */
  cwd: string;
  signal: AbortSignal | undefined;
}

/**
 * Whether a call may be sent to a tool that needs approval: if the policy requires neither approval nor a sandbox, it may; if the
 * policy never asks, it may not; otherwise the approver decides. Undefined: it may.
 */
export async function permitTool(
  selected: Selected,
  call: CallToPermit,
  context: PermitContext,
): Promise<RefusedCall | undefined> {
  const { approvalPolicy, sandbox } = context.policy;
  const cause = { kind: "policy" } as const;
  if (approvalPolicy === "never" && sandbox.unrestricted) {
    context.trail.judged({ kind: "skip", bypassSandbox: false }, () => []);
    return undefined;
  }
  const reason = "the tool may change things or send data elsewhere";
  const refusing = refusingPolicy(approvalPolicy, "sandboxApproval");
  if (refusing !== undefined) {
    const why = `${reason}, and approval policy ${refusing} does not ask`;
    context.trail.judged({ kind: "forbidden", reason: why, cause }, () => []);
    return refused("forbidden", "is forbidden", why, selected);
  }
  context.trail.judged({ kind: "needsApproval", reason, cause, asking: null }, () => []);
  const question = createQuestion(selected, call, reason, context.newId());
  const { closing } = context;
  const signal = call.signal === undefined ? closing : AbortSignal.any([call.signal, closing]);
  const terms = { canonical: question.command, digest: digestQuestion(question), signal };
  const decision = await context.decide(question, terms);
  context.trail.decided(question.id, decision);
  switch (decision.kind) {
    case "approved":
      return undefined;
    case "denied":
      return refused("denied", "was not approved", `${decision.reason} (asked because ${reason})`, selected);
    case "cancelled":
      return refused("cancelled", "was cancelled", `the ${decision.by} ended the turn`, selected);
    case "changed":
      return refused("changed", "is not what was approved", NOT_WHAT_WAS_GRANTED, selected);
    case "interrupted":
      return closing.aborted ? closedBeforeSending() : interrupted();
  }
}

function createQuestion({ tool }: Selected, { args, environment, cwd }: CallToPermit, reason: string, id: string) {
  const command = [tool.name, JSON.stringify(args)];
  return createOwnRequest({
    id,
    toolName: tool.name,
    environment,
    command,
    cwd,
    reason,
    sandboxPermissions: "use_default",
  });
}

function refused(
  code: "forbidden" | "denied" | "cancelled" | "changed",
  what: string,
  reason: string,
  { tool }: Selected,
): RefusedCall {
  const status = code === "changed" ? "error" : code;
  return refuse(status, `The call of \`${tool.name}\` ${what}: ${reason}. Nothing was run.`, { code, reason });
}
