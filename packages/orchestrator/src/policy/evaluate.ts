import type { HostInfo } from "@codex/executor-protocol";
import { literalCommands } from "./literal-commands.js";
import { isStandardProgram } from "./programs.js";
import type { JudgedCommand } from "./requirement.js";
import { splitCommand } from "./split.js";

/**
 * An argv as policy sees it. A script is split only for a shell that is surely one: the model chooses the shell, and
 * a program of its own that is called `sh` may run anything.
 */
export function judgedCommand(argv: readonly string[], host: HostInfo | undefined): JudgedCommand {
  return { commands: plainCommands(argv, host) ?? [argv], literals: literalCommands(argv) };
}

export function plainCommands(argv: readonly string[], host: HostInfo | undefined): string[][] | null {
  const [shell] = argv;
  const trusted = shell !== undefined && (isStandardProgram(shell) || shell === host?.shell.path);
  return trusted ? splitCommand(argv) : null;
}
