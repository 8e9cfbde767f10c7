/** A program that was not simply started as it was called. */
export interface ProgramReport {
  /** Its file, or the path or name by which it was called. */
  program: string;
  /** Its words; cut, where they are long. */
  argv: readonly string[];
  /**
   * `refused`: it was not started. `killed`: it was, and ended before its first instruction. `inside`: it ran in the sandbox. `outside`: it
   * ran outside of it.
   */
  decision: "refused" | "killed" | "inside" | "outside";
  reason: ReportReason;
  /** The id of the rule that decided. */
  rule?: string;
  /** With `outside`, once it has ended: its exit code, 128 + the number for a death by signal. */
  exitCode?: number;
  /** With `outside`: names of variables of its caller that it was started without. */
  droppedVariables?: readonly string[];
  /** With `not_outside`: why not, as the end of a sentence. */
  detail?: string;
  /** How often the same program was reported in a row. */
  times: number;
}

/** Why it was not simply started. */
export type ReportReason =
  /** A rule refuses it, or starts it outside. */
  | "rule"
  /** A rule asks, and the answer was to start it outside. */
  | "approved"
  /** A rule asks, and nobody could be asked, or too much was asked for this command. */
  | "unasked"
  /** A rule asks, and the answer was no. */
  | "declined"
  /** A rule asks, and there was no answer in time. */
  | "unanswered"
  /** It was allowed outside of the sandbox, where it could not be started; where only a rule allowed it, it ran inside. */
  | "not_outside"
  /** Its caller does not let its memory or files be read. */
  | "hidden"
  /** Its file could not be found, and the gate cannot look at it before it runs. */
  | "unresolved"
  /** It could not be compared with what was judged, such as when a debugger is attached to its caller. */
  | "unverified"
  /** It was another program, or had other words, than what was judged. */
  | "changed";
