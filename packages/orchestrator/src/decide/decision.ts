import type { DecidedBy } from "@codex/audit";
import type { Requirement, RuleMatch } from "@codex/policy";
import type { ApprovalRequest } from "../approvals/approver.js";

/** A question as it is shown, and what an answer to it covers. */
export interface Question {
  readonly request: ApprovalRequest;
  /** Where a decision for the session is remembered: it holds if it was made for each of these keys. */
  readonly keys: readonly string[];
  /** Digest of everything that an answer covers. */
  readonly digest: string;
}

/** What the policy says of a deed, before anybody is asked. */
export interface Evaluation<Terms> {
  /** For the record; undefined if the deed is impossible whatever the policy says. */
  readonly requirement: Requirement | undefined;
  /** The rules that match. */
  readonly matches?: () => readonly RuleMatch[];
  readonly outcome:
    | { readonly kind: "allowed"; readonly terms: Terms }
    | { readonly kind: "ask"; readonly terms: Terms; readonly reason: string; readonly question: Question }
    | Refused;
}

/** The decision about a deed. `Terms`: how it may be done. */
export type Decision<Terms> = Allowed<Terms> | Open | Refused;

/** It may be done, on these terms. */
export interface Allowed<Terms> {
  readonly kind: "allowed";
  readonly terms: Terms;
  /** Set if it was approved: id of the approval, and digest of what was approved. */
  readonly approval: { readonly id: string; readonly digest: string } | undefined;
  /** For the result, such as that a rule could not be saved. */
  readonly notices: readonly string[];
}

/** It was only judged, and approval would be asked for. */
export interface Open {
  readonly kind: "ask";
  readonly request: ApprovalRequest;
  readonly digest: string;
}

/** It must not be done. */
export interface Refused {
  readonly kind: "refused";
  readonly code: RefusedCode;
  readonly reason: string;
  /** Who denied it. */
  readonly by?: DecidedBy;
}

/** Why not: by the policy, for lack of the sandbox that it needs, or by the result of asking. */
export type RefusedCode =
  | "forbidden"
  | "sandbox_unavailable"
  | "denied"
  | "cancelled"
  /** The decision was made about something else. */
  | "changed"
  | "interrupted"
  | "closed";

/** Refuses by the policy. */
export const forbidden = (reason: string): Refused => ({ kind: "refused", code: "forbidden", reason });

/** Refuses for lack of a sandbox. */
export const unavailable = (reason: string): Refused => ({ kind: "refused", code: "sandbox_unavailable", reason });
