import { MAX_COMMAND_LENGTH, MAX_COMMAND_WORDS } from "./limits.js";

/** What a command runs in turn, as far as its arguments show. */
export type NestedCommand =
  | { readonly kind: "command"; readonly argv: readonly string[] }
  /** Text that a shell runs; `args` are its $0, $1, … */
  | { readonly kind: "script"; readonly script: string; readonly args: readonly string[] }
  /** A shell runs the file of this name. */
  | { readonly kind: "file"; readonly path: string }
  /** A shell runs what it reads. */
  | { readonly kind: "input-script" }
  /** What is read becomes further arguments. */
  | { readonly kind: "input-arguments"; readonly argv: readonly string[] }
  /** Each of these words may begin a command. */
  | { readonly kind: "suffixes"; readonly words: readonly string[] };

/** Everything a command may run in turn. */
export interface NestedCommands {
  /** What it runs as far as it is known; where arguments are ambiguous, more. */
  readonly inner: readonly NestedCommand[];
  /** What it may run as well: guessed, because the program or one of its options is not known. */
  readonly guesses: readonly NestedCommand[];
  /** Why it may run something that is in neither list; undefined when it does not. */
  readonly unclear: string | undefined;
}

/** Whether a command has more words, or longer ones, than are searched for others. */
export const isTooLong = (argv: readonly string[]): boolean =>
  argv.length > MAX_COMMAND_WORDS || argv.reduce((length, word) => length + word.length, 0) > MAX_COMMAND_LENGTH;

export const NO_NESTED_COMMANDS: NestedCommands = { inner: [], guesses: [], unclear: undefined };

export const runs = (...inner: readonly NestedCommand[]): NestedCommands => ({ ...NO_NESTED_COMMANDS, inner });

export const toCommand = (argv: readonly string[]): NestedCommand => ({ kind: "command", argv });

export const toScript = (script: string, args: readonly string[] = []): NestedCommand => ({
  kind: "script",
  script,
  args,
});

/** Any suffix of the arguments may be a command, and an argument with white space a script. */
export const guessIn = (args: readonly string[]): NestedCommand[] => [
  { kind: "suffixes", words: args },
  ...args.filter((arg) => /\s/.test(arg)).map((arg) => toScript(arg.replace(/^--?[\w-]+=/, ""))),
];
