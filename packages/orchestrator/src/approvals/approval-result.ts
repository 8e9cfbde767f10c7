import type { DecidedBy } from "@codex/audit";
import type { DetailedAnswer } from "./approver.js";

/** The result of a request for approval, and what decided it. */
export type ApprovalResult =
  /** `rule`: the prefix of a rule to save. `savesHost`: a rule for the host is saved. */
  | { kind: "approved"; by: DecidedBy; rule?: readonly string[]; savesHost?: true; via?: string }
  /** The reason is shown to the model. */
  | { kind: "denied"; by: DecidedBy; reason: string; via?: string }
  /** The turn ends. */
  | { kind: "cancelled"; by: Answerer; via?: string }
  /** The call was aborted while the question was open. */
  | { kind: "interrupted" }
  /** The decision was made about another request. */
  | { kind: "changed" };

/** Who answered. */
export type Answerer = NonNullable<DetailedAnswer["by"]>;
