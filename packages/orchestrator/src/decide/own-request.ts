import type { ApprovalDecision, ApprovalRequest } from "../approvals/approver.js";
import { copyFrozen, digestQuestion } from "../approvals/binding.js";
import type { Evaluation } from "./decision.js";

/** The parts of an approval request for a call that runs no command on an executor, such as an access to a file. */
export type OwnRequest = Pick<ApprovalRequest, "id" | "toolName" | "environment" | "command" | "cwd" | "reason"> &
  Partial<Pick<ApprovalRequest, "plainCommands" | "sandboxPermissions" | "sandbox" | "cause" | "proposedAmendment">> & {
    /** A rule can be saved. Default: with `proposedAmendment`. */
    canSave?: boolean;
  };

/** The request to approve such a call, frozen. Default: the policy asks for it, outside a sandbox, and no rule can be saved from it. */
export const createOwnRequest = ({ canSave, ...given }: OwnRequest): ApprovalRequest => {
  const proposedAmendment = given.proposedAmendment ?? null;
  const save: ApprovalDecision[] = (canSave ?? proposedAmendment !== null) ? ["accept_and_save"] : [];
  return copyFrozen({
    plainCommands: [],
    sandboxPermissions: "require_escalated",
    sandbox: null,
    cause: { kind: "policy" },
    ...given,
    tty: false,
    justification: null,
    additionalPermissions: null,
    afterDenial: null,
    proposedAmendment,
    availableDecisions: ["accept", "accept_for_session", ...save, "decline", "cancel"],
  });
};

/** The request as a question, which an answer for the session settles by these keys. */
export function askOwn(request: ApprovalRequest, keys: readonly string[]): Evaluation<undefined> {
  const { reason, cause } = request;
  return {
    requirement: { kind: "needsApproval", reason, cause, asking: null },
    outcome: { kind: "ask", terms: undefined, reason, question: { request, keys, digest: digestQuestion(request) } },
  };
}

/** A rule that was saved while the command ran allows it. */
export const ALLOWED_SINCE: Evaluation<undefined> = {
  requirement: { kind: "skip", bypassSandbox: false },
  outcome: { kind: "allowed", terms: undefined },
};
