import type { Clock } from "@codex/clock";
import type { GetShellParser, Policy, RuleBook } from "@codex/policy";
import type { Approver } from "../approvals/approver.js";

/** Policy and approver of one environment. */
export interface Ruling {
  readonly policy: Policy;
  readonly rules: RuleBook;
  /** Without one, what needs approval is denied. */
  readonly approver: Approver | undefined;
}

/** What deeds are evaluated with. */
export interface DecidePorts {
  readonly clock: Clock;
  readonly shellParser: GetShellParser;
  /** Creates a unique id. */
  readonly newId: () => string;
  /** Aborts when the orchestrator is closed. */
  readonly closing: AbortSignal;
}
