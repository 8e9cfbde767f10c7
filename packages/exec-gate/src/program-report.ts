/** A program that was not simply started as it was called. */
export interface ProgramReport {
  /** Its file, or the path or name by which it was called. */
  program: string;
  /** Its words; cut, where they are long. */
  argv: readonly string[];
  /** `refused`: it was not started. `killed`: it was, and ended before its first instruction. `inside`: it ran in the sandbox. */
  decision: "refused" | "killed" | "inside";
  reason: ReportReason;
  /** The id of the rule that decided. */
  rule?: string;
  /** How often the same program was reported in a row. */
  times: number;
}

/** Why it was not simply started. */
export type ReportReason =
  /** A rule refuses it. */
  | "rule"
  /** A rule asks, and nobody could be asked, or too much was asked for this command. */
  | "unasked"
  /** A rule asks, and the answer was no. */
  | "declined"
  /** A rule asks, and there was no answer in time. */
  | "unanswered"
  /** A rule allows it outside of the sandbox, where this gate starts nothing. */
  | "not_outside"
  /** Its caller does not let its memory or files be read. */
  | "hidden"
  /** Its file could not be found, and the gate cannot look at it before it runs. */
  | "unresolved"
  /** It could not be compared with what was judged, such as when a debugger is attached to its caller. */
  | "unverified"
  /** It was another program, or had other words, than what was judged. */
  | "changed";
