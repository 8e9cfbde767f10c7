import { setImmediate as nextTurn } from "node:timers/promises";
import type { HostInfo } from "@codex/executor-protocol";
import {
  findLiteralCommands,
  findNestedCommands,
  type LiteralCommands,
  type ShellParser,
  type SyntaxTree,
  splitCommand,
} from "@codex/shell-analysis";
import { messageOf } from "@codex/values";
import type { AnalyzedCommand } from "./analyzed-command.js";
import { isStandardProgram } from "./programs.js";

/** Resolves to the script parser; called when a command first contains a script. */
export type GetShellParser = () => Promise<ShellParser>;

/**
 * Analyzes an argv. A script is split only for a program that is certainly a shell: the model chooses the program, and
 * one of its own that is called `sh` may run anything. Never rejects: without a parser the command is opaque, and has a `parseProblem`.
 */
export async function analyzeCommand(
  argv: readonly string[],
  host: HostInfo | undefined,
  getParser: GetShellParser,
): Promise<AnalyzedCommand> {
  const hasScript = findNestedCommands(argv).inner.some(({ kind }) => kind === "script");
  const plain = hasScript ? undefined : readPlainly(argv, host);
  if (plain !== undefined) return plain;
  try {
    const parser = cacheTrees(await getParser());
    const commands = splitTrusted(parser, argv, host);
    // A script may be long: other work has its turn between the two readings.
    await nextTurn();
    return describe(argv, commands, findLiteralCommands(parser, argv));
  } catch (error) {
    const parseProblem = `the script in the command cannot be parsed: ${messageOf(error)}`;
    return { ...readCommand(argv, host, { parse: () => undefined }), parseProblem };
  }
}

function readCommand(argv: readonly string[], host: HostInfo | undefined, fresh: ShellParser): AnalyzedCommand {
  const parser = cacheTrees(fresh);
  const commands = splitTrusted(parser, argv, host);
  return describe(argv, commands, findLiteralCommands(parser, argv));
}

function splitTrusted(parser: ShellParser, argv: readonly string[], host: HostInfo | undefined) {
  const [shell] = argv;
  const isTrusted = shell !== undefined && (isStandardProgram(shell) || shell === host?.shell.path);
  return isTrusted ? splitCommand(parser, argv) : null;
}

function describe(
  argv: readonly string[],
  commands: ReturnType<typeof splitTrusted>,
  literals: LiteralCommands,
): AnalyzedCommand {
  const found = { commands: commands ?? [argv], isSplit: commands !== null, literals };
  return literals.complete ? found : { ...found, sizeBytes: Buffer.byteLength(argv.join(" ")) };
}

/** Caches trees, because the strict and the restrictive analysis of a command begin with the same script. */
function cacheTrees(parser: ShellParser): ShellParser {
  const trees = new Map<string, SyntaxTree | undefined>();
  return {
    parse(script) {
      if (!trees.has(script)) trees.set(script, parser.parse(script));
      return trees.get(script);
    },
  };
}

/** Undefined when the command contains a script: loading the parser is slow, and plain arguments do not need it. */
function readPlainly(argv: readonly string[], host: HostInfo | undefined): AnalyzedCommand | undefined {
  try {
    return readCommand(argv, host, NO_PARSER);
  } catch (error) {
    if (error instanceof ScriptFound) return undefined;
    throw error;
  }
}

class ScriptFound extends Error {}

const NO_PARSER: ShellParser = {
  parse: () => {
    throw new ScriptFound();
  },
};
