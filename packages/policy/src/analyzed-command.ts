import type { LiteralCommands } from "./shell/found-commands.js";

/** A command as policy sees it. */
export interface AnalyzedCommand {
  /** The plain commands, or the whole argv as the only one. */
  commands: readonly (readonly string[])[];
  /** False: `commands` is the whole argv, as it stands. */
  isSplit: boolean;
  /** Everything spelled out anywhere in it; only counted against it. */
  literals: LiteralCommands;
  /** Why its scripts could not be parsed. */
  parseProblem?: string;
}
