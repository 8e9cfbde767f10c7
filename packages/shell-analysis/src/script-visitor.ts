import { INITIAL_VARIABLES, type Variables } from "./variables.js";

/** A command found in a script, with what is known of its surroundings. */
export interface FoundCommand {
  readonly argv: readonly string[];
  /** Those of its words of which a part is known only at run time. */
  readonly uncertain: ReadonlySet<string>;
  /** Its input, where that is spelled out. */
  readonly input: string | undefined;
  readonly variables: Variables;
  /** Contents of files: process substitutions by their text, and files that the script itself has written. */
  readonly files: ReadonlyMap<string, string>;
}

/** A command of which only the words are known. */
export const UNRELATED = {
  uncertain: new Set<string>(),
  input: undefined,
  variables: INITIAL_VARIABLES,
  files: new Map(),
};

export interface ScriptVisitor {
  /** Visits a command and returns its known output, with `UNKNOWN` for unknown parts; undefined when the script does not determine it. */
  visitCommand(command: FoundCommand): string | undefined;
  /** A script inside a script, such as one between backticks in a here-document. */
  visitScript(script: string, variables: Variables, input?: string): string | undefined;
  /** A command whose program is computed: `args` are known, the program may be any word that is spelled out. */
  visitComputed(args: readonly string[]): void;
  /** Text that is written to a file, which a later program may run. */
  visitWritten(path: string, text: string): void;
  /** The value of a variable that names a startup file of a shell. */
  visitStartFile(path: string): void;
  /** A value that a variable may have. */
  visitVariable(name: string, value: string): void;
  /** A text that may contain commands. */
  visitText(text: string): void;
  /** A value that contains a substitution, which runs when the value is used as a number, a subscript or a prompt. */
  visitDeferred(value: string): void;
  /** False when nesting is too deep to continue; otherwise the caller must call `leave`. */
  enter(): boolean;
  leave(): void;
  /** What a process substitution prints, by its text. */
  visitSubstituted(name: string, output: string): void;
  /** Counts work against the bound of the whole command. */
  spend(effort: number): void;
  /** There may be more than was visited. */
  giveUp(): void;
}
