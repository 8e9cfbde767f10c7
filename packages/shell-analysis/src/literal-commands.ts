import { CommandCollector } from "./command-collector.js";
import { type LiteralCommands, listFound } from "./found-commands.js";
import type { ShellParser } from "./parser.js";
import { UNRELATED } from "./script-visitor.js";
import { INITIAL_VARIABLES } from "./variables.js";

/**
 * Every command that `argv` may execute, as far as it is spelled out: behind wrappers, in scripts, loops, functions and
 * substitutions, and in text that is piped or written into a shell. Restrictive decisions rely on this.
 */
export function findLiteralCommands(parser: ShellParser, argv: readonly string[]): LiteralCommands {
  const collector = new CommandCollector(parser);
  collector.visitCommand({ ...UNRELATED, argv });
  collector.guess(argv.join(" "));
  return listFound(collector);
}

/** The same, with another turn of the event loop after the long parts, which take some 100 ms for a script of 20 kB. */
export async function findLiteralCommandsInTurns(
  parser: ShellParser,
  argv: readonly string[],
  nextTurn: () => Promise<unknown>,
): Promise<LiteralCommands> {
  const collector = new CommandCollector(parser);
  collector.visitCommand({ ...UNRELATED, argv });
  await nextTurn();
  collector.guess(argv.join(" "));
  return listFound(collector);
}

/** The same as `findLiteralCommands`, for the text of a script. */
export function findScriptCommands(parser: ShellParser, script: string): LiteralCommands {
  const collector = new CommandCollector(parser);
  collector.visitScript(script, INITIAL_VARIABLES);
  collector.guess(script);
  return listFound(collector);
}
