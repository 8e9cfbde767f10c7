import { hasOption, type OptionName } from "@codex/exec-gate";
import { programName } from "./programs.js";

/** A kind of command that needs approval even where others are allowed. */
export interface DangerousEntry {
  /** Its name in refusals. */
  name: string;
  program: string;
  option: OptionName;
  what: string;
}

/** The commands that always need approval, unless a rule decides about them. */
export const DANGEROUS_COMMANDS: readonly DangerousEntry[] = [
  {
    name: "rm-force",
    program: "rm",
    option: { letter: "f", name: "force" },
    what: "`rm` with a force flag deletes without asking",
  },
];

/** How to override a refusal by this table; part of every such message. */
export const HOW_TO_OVERRIDE =
  "a rule that allows the command replaces this check, and under approval policy `on-request` a person is asked";

/** The entry that this command falls under. Wrappers such as `sudo` are not unwrapped; `findLiteralCommands` does that. */
export function findDangerousEntry(command: readonly string[]): DangerousEntry | undefined {
  const [program, ...args] = command;
  if (program === undefined) return undefined;
  const name = programName(program);
  return DANGEROUS_COMMANDS.find((entry) => entry.program === name && hasOption(args, entry.option));
}
