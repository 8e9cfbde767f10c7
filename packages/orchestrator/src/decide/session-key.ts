import type { ApprovalRequest } from "../approvals/approver.js";

/** What a decision for the session covers: the same command at the same place with the same permissions. */
export const sessionKey = (request: ApprovalRequest, canonical: readonly string[]): string =>
  JSON.stringify([
    request.environment,
    canonical,
    request.cwd,
    request.tty,
    request.sandboxPermissions,
    // Normalized when it was resolved, so equal permissions are equal text.
    request.additionalPermissions,
    // A decision about a command in its sandbox does not apply to running it outside, and vice versa.
    request.sandbox,
  ]);
