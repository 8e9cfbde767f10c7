import type { Variables } from "./variables.js";

/** A command found in a script, with what is known of its surroundings. */
export interface FoundCommand {
  readonly argv: readonly string[];
  /** Those of its words of which a part is only known to the running script. */
  readonly uncertain: ReadonlySet<string>;
  /** What it reads, where that is spelled out. */
  readonly input: string | undefined;
  readonly variables: Variables;
  /** What is in files: process substitutions by their text, and what the script itself has written. */
  readonly files: ReadonlyMap<string, string>;
}

export interface ScriptVisitor {
  /** Takes a command and returns what it is known to print: `UNKNOWN` in it for the rest, undefined for nothing of the script's making. */
  visitCommand(command: FoundCommand): string | undefined;
  /** A script inside a script, such as one between backticks in a here-document. */
  visitScript(script: string, variables: Variables, input?: string): string | undefined;
  /** A command whose program is computed: `args` are known, the program may be any word that is spelled out. */
  visitComputed(args: readonly string[]): void;
  /** What is put into a file that a later program may run. */
  visitWritten(path: string, text: string): void;
  /** A text in which commands may stand. */
  visitText(text: string): void;
  /** A value with a substitution in it: run where it is taken for a number, a subscript or a prompt. */
  visitDeferred(value: string): void;
  /** False when nesting is too deep to go on; `leave` is called otherwise. */
  enter(): boolean;
  leave(): void;
  /** There may be more than was visited. */
  giveUp(): void;
}
