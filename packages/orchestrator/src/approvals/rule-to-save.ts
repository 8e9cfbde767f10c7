import type { AllowRule } from "@codex/policy";
import type { ApprovalRequest } from "./approver.js";

/** The rule that is saved with these words: it keeps the sandbox in which the command was asked about. */
export const ruleToSave = (
  { sandbox, sandboxPermissions }: Pick<ApprovalRequest, "sandbox" | "sandboxPermissions">,
  words: readonly string[],
): AllowRule => ({ words, keepsSandbox: sandbox !== null && sandboxPermissions === "use_default" });
