import type { ApprovalRequest } from "../approvals/approver.js";
import { copyFrozen } from "../approvals/binding.js";

/** The parts of an approval request for a call that runs no command on an executor, such as an access to a file. */
export type OwnRequest = Pick<ApprovalRequest, "id" | "toolName" | "environment" | "command" | "cwd" | "reason"> &
  Partial<Pick<ApprovalRequest, "plainCommands" | "sandboxPermissions" | "sandbox" | "cause">>;

/** The request to approve such a call, frozen: the policy asks for it, and no rule can be saved from it. Default: outside a sandbox. */
export const createOwnRequest = (given: OwnRequest): ApprovalRequest =>
  copyFrozen({
    plainCommands: [],
    sandboxPermissions: "require_escalated",
    sandbox: null,
    cause: { kind: "policy" },
    ...given,
    tty: false,
    justification: null,
    additionalPermissions: null,
    afterDenial: null,
    proposedAmendment: null,
    availableDecisions: ["accept", "accept_for_session", "decline", "cancel"],
  });
