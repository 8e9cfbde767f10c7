import type { LiteralCommands } from "@codex/shell-analysis";

/** The analysis of a command on which the policy decides. */
export interface AnalyzedCommand {
  /** The plain commands, or the whole argv as the only one. */
  commands: readonly (readonly string[])[];
  /** False: `commands` contains only the whole argv, unchanged. */
  isSplit: boolean;
  /** All commands spelled out anywhere in it; they can only restrict it. */
  literals: LiteralCommands;
  /** Bytes of its words; only where not all of it could be analyzed. */
  sizeBytes?: number;
  /** Why its scripts could not be parsed. */
  parseProblem?: string;
}
