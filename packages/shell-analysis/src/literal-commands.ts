import { CommandCollector } from "./command-collector.js";
import type { ShellParser } from "./parser.js";

/** Commands that are spelled out somewhere in a command, itself first. */
export interface LiteralCommands {
  /** Unknown parts of words are kept as they are written. */
  readonly commands: string[][];
  /** Beginnings of commands whose next word is known only at run time: `git` of `git $verb`. Absent if there are none. */
  readonly beginnings?: string[][];
  /** What may be commands as well: arguments of unknown programs, pieces of code in other languages. Absent if there are none. */
  readonly guesses?: string[][];
  /** False when a bound was hit, or something is not plain: there may be more than was found. */
  readonly complete: boolean;
  /** Why there may be more; absent when a bound is the reason. */
  readonly unclear?: string;
  /** A shell in it reads the command's later input. Absent if none does. */
  readonly readsScript?: true;
}

/**
 * Every command that `argv` may execute, as far as it is spelled out: behind wrappers, in scripts, loops, functions and
 * substitutions. Restrictive decisions rely on this: what is not plain is said to be `unclear`.
 */
export function findLiteralCommands(parser: ShellParser, argv: readonly string[]): LiteralCommands {
  const collector = new CommandCollector(parser);
  collector.visitCommand([argv], undefined);
  return list(collector);
}

/** The same, for lines that are typed into a shell. */
export function findScriptCommands(parser: ShellParser, script: string): LiteralCommands {
  const collector = new CommandCollector(parser, { isTyped: true });
  collector.visitScript(script, undefined);
  return list(collector);
}

/** Each command once; a guess that is a command is left out. */
function list(collector: CommandCollector): LiteralCommands {
  collector.finish();
  const { commands, complete, unclear } = collector;
  const guesses = [...collector.guesses].flatMap(([key, words]) => (commands.has(key) ? [] : [words]));
  const beginnings = [...collector.beginnings.values()];
  return {
    commands: [...commands.values()],
    ...(beginnings.length === 0 ? {} : { beginnings }),
    ...(guesses.length === 0 ? {} : { guesses }),
    complete: complete && unclear === undefined,
    ...(unclear === undefined || !complete ? {} : { unclear }),
    ...(collector.readsScript ? { readsScript: true as const } : {}),
  };
}
