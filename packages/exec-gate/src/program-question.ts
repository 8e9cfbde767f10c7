import type { OutsideProfile } from "./gate-rule.js";

/** A program that waits to be started until somebody has decided about it. */
export interface ProgramQuestion {
  /** Its file, or the path by which it was called. */
  program: string;
  /** Its words; cut, where they are long. */
  argv: readonly string[];
  /** Set where `argv` is not all of its words. */
  isCut?: boolean | undefined;
  /** The directory in which it would run, as its caller sees it; absent if it could not be read. */
  cwd?: string | undefined;
  /** The id of the rule that asks. */
  rule: string;
  /** Where it could run outside of its sandbox; absent where it can only run inside. */
  outside?: OutsideProfile | undefined;
}

/** How many questions the programs of one command may raise, and how long each waits for its answer. */
export interface QuestionLimits {
  /** The programs that would raise more are refused. */
  most: number;
  /** Milliseconds; then the program is refused. */
  timeoutMs: number;
}

/** What becomes of a program that waits: it runs in its sandbox, or where its question says, or is refused for this reason. */
export type ProgramVerdict = "run" | "outside" | "declined" | "unasked" | "unanswered";
