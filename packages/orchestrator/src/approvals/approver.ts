import type { Sandbox, SandboxPermissions } from "@codex/executor-protocol";
import type { Cause } from "@codex/policy";

/** Decides about calls that need approval, such as a person at a prompt. */
export interface Approver {
  /**
   * Requests a decision. The signal aborts when the decision is no longer needed; it is ignored then.
   * A rejection counts as no decision, and the command does not run; with an OrchestratorError `no_approver` the audit log
   * records that no approver was asked.
   */
  requestApproval(request: ApprovalRequest, options: { signal: AbortSignal }): Promise<ApprovalAnswer>;
}

/**
 * `accept`: this once. `accept_for_session`: this command at this place, until the orchestrator is closed.
 * `accept_and_save`: this once, and the proposed rule allows it from now on. `decline`: the model sees the refusal and continues.
 * `cancel`: the turn ends.
 */
export type ApprovalDecision = "accept" | "accept_for_session" | "accept_and_save" | "decline" | "cancel";

/** A decision, or one with details. */
export type ApprovalAnswer = ApprovalDecision | DetailedAnswer;

/** A decision with details. */
export interface DetailedAnswer {
  decision: ApprovalDecision;
  /** With `accept_and_save`: the prefix of the commands that are allowed, where the person changed the proposed one. */
  rule?: readonly string[];
  /** `client`: a program answered, and whether a person was asked is unknown. `model`: a model decided. Default `user`. */
  by?: "user" | "client" | "model";
  /** Where the answer came from, for views and the audit log, such as `view`; at most 64 characters are recorded. */
  via?: string;
}

/** A decision made before the call, about what `judge` returned. It applies only to that. */
export interface Grant extends DetailedAnswer {
  /** The digest that `judge` returned with the request that was decided about. */
  digest: string;
}

/** Everything needed for a decision, frozen. Exactly what is shown here runs, or nothing. */
export interface ApprovalRequest {
  /** Unique; also sent to the executor as `approvalId`. */
  id: string;
  toolName: string;
  /** Name of the executor. */
  environment: string;
  /** The argv that would run. */
  command: readonly string[];
  /** The plain commands in it, or the argv as the only one: what a rule would have to match. */
  plainCommands: readonly (readonly string[])[];
  /** Absolute, on the executor's host. */
  cwd: string;
  tty: boolean;
  /** Why approval is required. */
  reason: string;
  /** What requires approval: a rule, an entry of the dangerous commands, or the policy itself. */
  cause: Cause;
  /** The model's own words, unchecked. */
  justification: string | null;
  sandboxPermissions: SandboxPermissions;
  additionalPermissions: Readonly<Record<string, unknown>> | null;
  /** The sandbox in which it would run; null for none. */
  sandbox: Sandbox | null;
  /** The permission profile that the model asks for, for this command alone; its sandbox is `sandbox`. Absent: that of the policy. */
  permissionProfile?: string;
  /** Set if it has already run in the sandbox and is to run again outside: the effects of the first run remain. */
  afterDenial: AfterDenial | null;
  /** Prefix of a rule that would allow it, for `accept_and_save`; null if no rule would help or may be proposed. */
  proposedAmendment: readonly string[] | null;
  availableDecisions: readonly ApprovalDecision[];
}

/** A run that failed because of its sandbox. */
export interface AfterDenial {
  /** False: the sandbox is assumed to be the cause, based on the output. */
  certain: boolean;
  /** What was refused. */
  reason: string;
  exitCode: number | undefined;
}
