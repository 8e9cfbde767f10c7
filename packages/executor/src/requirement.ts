import type { ExecCommandRequest } from "@codex/executor-protocol";

/** Why a request must not run here; undefined when it may. What cannot be enforced is refused, never run without it. */
export function getRefusal(request: ExecCommandRequest): string | undefined {
  const requirement = request.execApprovalRequirement;
  if ("forbidden" in requirement) {
    return `the command is forbidden and was not run: ${requirement.forbidden.reason}`;
  }
  if ("needsApproval" in requirement) {
    const { reason } = requirement.needsApproval;
    return `the command needs approval and was not run${reason === null ? "" : `: ${reason}`}; it runs once it was approved`;
  }
  if (request.sandbox !== undefined && request.sandbox !== null) {
    return "the request names a sandbox, which this executor cannot apply; the command was not run";
  }
  if (request.sandboxPermissions === "with_additional_permissions") {
    return "the request asks for additional permissions, which mean nothing without a sandbox, and this executor has none; the command was not run";
  }
  return undefined;
}
