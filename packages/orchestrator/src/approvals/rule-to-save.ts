import type { AllowHostRule, AllowRule } from "@codex/policy";
import type { ApprovalRequest } from "./approver.js";

/** The rule that is saved with these words: it keeps the sandbox in which the command was asked about. */
export const ruleToSave = (
  { sandbox, sandboxPermissions }: Pick<ApprovalRequest, "sandbox" | "sandboxPermissions">,
  words: readonly string[],
): AllowRule => ({ words, keepsSandbox: sandbox !== null && sandboxPermissions === "use_default" });

/** The rule that `accept_and_save` saves as it was proposed; undefined where that is not offered. */
export function proposedRule(
  request: Pick<
    ApprovalRequest,
    "sandbox" | "sandboxPermissions" | "proposedAmendment" | "availableDecisions" | "cause"
  >,
): AllowRule | AllowHostRule | undefined {
  const { proposedAmendment, availableDecisions, cause } = request;
  if (!availableDecisions.includes("accept_and_save")) return undefined;
  if (cause.kind === "host") return { host: cause.host, protocol: cause.protocol };
  return proposedAmendment === null ? undefined : ruleToSave(request, proposedAmendment);
}
