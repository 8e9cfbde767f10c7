import { listCarried } from "./carried-commands.js";
import { MAX_EFFORT, MAX_LITERAL_COMMANDS, MAX_NESTING, MAX_ROUGH_SCRIPT } from "./limits.js";
import { getLiteralOutput } from "./literal-output.js";
import type { ShellParser } from "./parser.js";
import { parseChecked } from "./parser-check.js";
import { readRoughCommands } from "./rough-words.js";
import { type FoundCommand, type ScriptVisitor, type Variables, walkScript } from "./script-walker.js";
import { fillArguments, type Inner, unwrapCommand } from "./wrappers.js";

/** Commands that are spelled out somewhere in a command, itself first. */
export interface LiteralCommands {
  /** A part of a word that is not known stands in it as it is written. */
  readonly commands: string[][];
  /** False when a bound was hit: there may be more than was found. */
  readonly complete: boolean;
}

/**
 * Every command that running `argv` may come to, as far as it is spelled out: behind wrappers, in scripts, loops,
 * functions and substitutions, in what is piped or written into a shell. Restrictive decisions rest on this.
 */
export function literalCommands(parser: ShellParser, argv: readonly string[]): LiteralCommands {
  const collector = new CommandCollector(parser);
  collector.visitCommand({ argv, input: undefined, variables: INITIAL_VARIABLES, files: new Map() });
  return { commands: [...collector.commands.values()], complete: collector.complete };
}

const INITIAL_VARIABLES: Variables = new Map([["IFS", [" "]]]);

const CONTINUATION = /[^ \t\n]\\\n[^ \t\n]/;
const CONTINUATIONS = /\\\n/g;

/** Reading a character of a script costs about as much as visiting half a word of a command. */
const EFFORT_PER_CHARACTER = 0.5;

class CommandCollector implements ScriptVisitor {
  /** By their text, so that each is listed once. */
  readonly commands = new Map<string, string[]>();
  complete = true;
  /** Outputs of commands that were visited, by variables and then by words and input: wrappers meet the same one often. */
  private readonly visited = new Map<Variables, Map<string, string | undefined>>();
  private depth = 0;
  private effort = 0;

  constructor(private readonly parser: ShellParser) {}

  enter(): boolean {
    const isOver = this.commands.size >= MAX_LITERAL_COMMANDS || this.effort > MAX_EFFORT;
    if (this.depth >= MAX_NESTING || isOver) this.complete = false;
    if (!this.complete) return false;
    this.depth += 1;
    return true;
  }

  leave(): void {
    this.depth -= 1;
  }

  visitCommand(command: FoundCommand): string | undefined {
    const { argv, input, variables } = command;
    const visited = this.visited.get(variables) ?? new Map<string, string | undefined>();
    this.visited.set(variables, visited);
    const key = JSON.stringify([argv, input]);
    this.effort += argv.length;
    if (argv.length === 0 || visited.has(key) || !this.enter()) return visited.get(key);
    visited.set(key, undefined);
    this.commands.set(JSON.stringify(argv), [...argv]);
    let output = getLiteralOutput(argv, input);
    for (const inner of [...unwrapCommand(argv), ...listCarried(argv)]) {
      const printed = this.visitInner(inner, command);
      output ??= printed;
    }
    visited.set(key, output);
    this.leave();
    return output;
  }

  visitScript(script: string, variables: Variables, input?: string): string | undefined {
    if (!/\S/.test(script) || !this.enter()) return undefined;
    this.effort += script.length * EFFORT_PER_CHARACTER;
    const tree = this.effort > MAX_EFFORT ? undefined : parseChecked(this.parser, script);
    const output = tree && walkScript(tree, input, variables, this);
    if (tree === undefined || tree.hasError) this.visitRough(script.slice(0, MAX_ROUGH_SCRIPT), variables);
    if (tree === undefined) this.complete = false;
    // A continued line joins words for a shell, and parts them for the grammar.
    if (CONTINUATION.test(script)) this.visitScript(script.replace(CONTINUATIONS, ""), variables, input);
    this.leave();
    return output;
  }

  private visitInner(inner: Inner, command: FoundCommand): string | undefined {
    const { input, variables, files } = command;
    switch (inner.kind) {
      case "command":
        return this.visitCommand({ ...command, argv: inner.argv });
      case "script":
        return this.visitScript(inner.script, addParameters(variables, inner.args), input);
      case "file": {
        const isInput = inner.path === "/dev/stdin" || inner.path === "/dev/fd/0" || inner.path === "-";
        const script = isInput ? input : files.get(inner.path);
        return script === undefined ? undefined : this.visitScript(script, variables);
      }
      case "input-script":
        return input === undefined ? undefined : this.visitScript(input, variables);
      case "input-arguments":
        return input === undefined ? undefined : this.visitCommand({ ...command, argv: fillArguments(inner, input) });
    }
  }

  private visitRough(script: string, variables: Variables): void {
    for (const argv of readRoughCommands(script)) {
      this.visitCommand({ argv, input: undefined, variables, files: new Map() });
    }
  }
}

/** `$0`, `$1`, … and all but the first as `$@`. */
function addParameters(variables: Variables, args: readonly string[]): Variables {
  if (args.length === 0) return variables;
  const all = args.slice(1).join(" ");
  return new Map([
    ...variables,
    ...args.map((arg, index) => [String(index), [arg]] as const),
    ["@", [all]],
    ["*", [all]],
  ]);
}
