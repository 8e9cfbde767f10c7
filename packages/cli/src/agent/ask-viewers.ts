import type { Approver, Orchestrator } from "@codex/orchestrator";

/** The approver of tools that request approval themselves: it also asks viewers. */
export function askViewersToo(
  orchestrator: Pick<Orchestrator, "approvers">,
  approver: Approver | undefined,
  hasView: boolean,
): Approver | undefined {
  if (approver === undefined && !hasView) return undefined;
  return {
    async requestApproval(request, options) {
      const all = orchestrator.approvers.join(approver);
      if (all === undefined) throw new Error("nobody is there to ask");
      return all.requestApproval(request, options);
    },
  };
}
