import type { SandboxPermissions } from "@codex/executor-protocol";
import type { Cause } from "../policy/requirement.js";

/** Somebody who may say yes. Handed in; the orchestrator asks, and remembers what it is told to remember. */
export interface Approver {
  /**
   * A person's decision. The signal aborts when nobody waits for it any more; the answer is ignored then.
   * A rejection counts as no decision, and the command does not run.
   */
  requestApproval(request: ApprovalRequest, options: { signal: AbortSignal }): Promise<ApprovalDecision>;
}

/**
 * `accept`: this once. `accept_for_session`: this command at this place, until the orchestrator is closed.
 * `accept_and_save`: reserved for saving a rule; never among the available decisions yet. `decline`: the model is
 * told, and goes on. `cancel`: the turn ends.
 */
export type ApprovalDecision = "accept" | "accept_for_session" | "accept_and_save" | "decline" | "cancel";

/** Everything a person needs for deciding. */
export interface ApprovalRequest {
  /** Unique; also sent to the executor as `approvalId`. */
  id: string;
  toolName: string;
  /** Name of the executor. */
  environment: string;
  /** The argv that would run. */
  command: readonly string[];
  /** Absolute, on the executor's host. */
  cwd: string;
  tty: boolean;
  /** Why it is asked. */
  reason: string;
  /** What in the policy asks: a rule, an entry of the dangerous commands, the policy itself. */
  cause: Cause;
  /** The model's own words, unchecked. */
  justification: string | null;
  sandboxPermissions: SandboxPermissions;
  additionalPermissions: Readonly<Record<string, unknown>> | null;
  /** A rule that would answer this question from now on; null while none can be proposed. */
  proposedAmendment: readonly string[] | null;
  availableDecisions: readonly ApprovalDecision[];
}

export const AVAILABLE_DECISIONS: readonly ApprovalDecision[] = ["accept", "accept_for_session", "decline", "cancel"];
