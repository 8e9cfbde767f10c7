import type { Sandbox, SandboxPermissions } from "@codex/executor-protocol";
import type { Cause } from "@codex/policy";

/** Decides what the policy leaves open, such as a person at a prompt. */
export interface Approver {
  /**
   * Asks for a decision. The signal aborts when the decision is not waited for any more; it is ignored then.
   * A rejection counts as no decision, and the command does not run; with an OrchestratorError `no_approver` the audit log
   * says that nobody was asked.
   */
  requestApproval(request: ApprovalRequest, options: { signal: AbortSignal }): Promise<ApprovalAnswer>;
}

/**
 * `accept`: this once. `accept_for_session`: this command at this place, until the orchestrator is closed.
 * `accept_and_save`: this once, and the proposed rule allows it from now on. `decline`: the model sees the refusal and continues.
 * `cancel`: the turn ends.
 */
export type ApprovalDecision = "accept" | "accept_for_session" | "accept_and_save" | "decline" | "cancel";

/** A decision, or one with more to say about it. */
export type ApprovalAnswer = ApprovalDecision | DetailedAnswer;

/** A decision, and how it came about. */
export interface DetailedAnswer {
  decision: ApprovalDecision;
  /** With `accept_and_save`: the prefix of the commands that are allowed, where the person changed the proposed one. */
  rule?: readonly string[];
  /** `client`: a program answered, and whether a person was asked is unknown. `model`: a model decided. Default `user`. */
  by?: "user" | "client" | "model";
  /** Where the answer came from, for views and the audit log, such as `view`; at most 64 characters are recorded. */
  via?: string;
}

/** A decision that was made before the call, on what `judge` returned. It counts for that and for nothing else. */
export interface Grant extends DetailedAnswer {
  /** The digest that `judge` returned with the request that was decided about. */
  digest: string;
}

/** Everything needed to decide, frozen. What runs is exactly what is shown here, or nothing. */
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
  /** Why it is asked. */
  reason: string;
  /** What in the policy asks: a rule, an entry of the dangerous commands, the policy itself. */
  cause: Cause;
  /** The model's own words, unchecked. */
  justification: string | null;
  sandboxPermissions: SandboxPermissions;
  additionalPermissions: Readonly<Record<string, unknown>> | null;
  /** What would hold it; null for nothing. */
  sandbox: Sandbox | null;
  /** Set when it ran in the sandbox already and is to run again outside: what it did so far is done. */
  afterDenial: AfterDenial | null;
  /** Prefix of a rule that allows, for `accept_and_save`; null where none would help or may be proposed. */
  proposedAmendment: readonly string[] | null;
  availableDecisions: readonly ApprovalDecision[];
}

/** A run that failed because of its sandbox. */
export interface AfterDenial {
  /** False: that the sandbox is the cause is guessed from the output. */
  certain: boolean;
  /** What was refused. */
  reason: string;
  exitCode: number | undefined;
}
