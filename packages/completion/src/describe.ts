import type { Argument, Command, Option } from "commander";

/** What may complete a word: fixed choices, file names, names of the executor's tools, ids of environments, or anything. */
export type Values =
  | { kind: "choices"; choices: readonly string[] }
  | { kind: "file" | "tool" | "environment" | "any" };

/** An option as a shell completes it. */
export interface CompletedOption {
  /** Such as `--tty` and `-t`. */
  names: readonly string[];
  description: string;
  /** Of its value; undefined for a switch. */
  value: Values | undefined;
}

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** Names from the top, without `codex`; empty for `codex` itself. */
  path: readonly string[];
  description: string;
  children: readonly { name: string; description: string }[];
  options: readonly CompletedOption[];
  /** Values of its first argument; undefined when it takes none. */
  words: Values | undefined;
  /** Its first argument begins the command line of a program. */
  takesProgram: boolean;
}

/** The tree of commands, each before those below it. */
export function describeCommands(command: Command, path: readonly string[] = []): CompletedCommand[] {
  const help = command.createHelp();
  const children = help
    .visibleCommands(command)
    .map((child) => ({ name: child.name(), description: child.description() }));
  const described: CompletedCommand = {
    path,
    description: command.description(),
    children,
    options: help.visibleOptions(command).map(describeOption),
    words: describeWords(command.registeredArguments[0], children, path),
    takesProgram: PROGRAM_ARGUMENTS.has(command.registeredArguments[0]?.name() ?? ""),
  };
  return [described, ...command.commands.flatMap((child) => describeCommands(child, [...path, child.name()]))];
}

/** Options with a value: each is spelled alike in all commands. */
export const listValued = (commands: readonly CompletedCommand[]): string[] => [
  ...new Set(
    commands.flatMap(({ options }) => options.flatMap(({ names, value }) => (value === undefined ? [] : names))),
  ),
];

/** What takes the ids out of `codex environment list --json`, for a shell. */
export const IDS = `sed -n 's/^ *"id": "\\([^"]*\\)".*/\\1/p'`;

/** Names of arguments that begin a command line. */
const PROGRAM_ARGUMENTS: ReadonlySet<string> = new Set(["program", "command"]);

function describeOption({ short, long, description, required, optional, argChoices, flags }: Option): CompletedOption {
  const names = [long, short].filter((name) => name != null);
  if (!required && !optional) return { names, description, value: undefined };
  if (argChoices !== undefined) return { names, description, value: { kind: "choices", choices: argChoices } };
  const placeholder = /<([^>]+)>/.exec(flags)?.[1] ?? "";
  const choices = CHOICES[names[0] ?? ""];
  if (choices !== undefined) return { names, description, value: { kind: "choices", choices } };
  if (ENVIRONMENT_OPTIONS.has(long ?? "")) return { names, description, value: { kind: "environment" } };
  return { names, description, value: { kind: FILE_PLACEHOLDERS.test(placeholder) ? "file" : "any" } };
}

const ENVIRONMENT_OPTIONS: ReadonlySet<string> = new Set(["--environment", "--fallback"]);

const FILE_PLACEHOLDERS = /^(path|file|dir)\b/;

/** Arguments that are not validated before the command runs. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  "--log-level": ["off", "error", "warn", "info", "debug"],
  "--log-format": ["text", "json"],
};

function describeWords(
  argument: Argument | undefined,
  children: CompletedCommand["children"],
  path: readonly string[],
): Values | undefined {
  if (children.length > 0) return { kind: "choices", choices: children.map(({ name }) => name) };
  if (argument === undefined) return undefined;
  if (argument.argChoices !== undefined) return { kind: "choices", choices: argument.argChoices };
  if (argument.name() === "file") return { kind: "file" };
  // The id of one that is added is a new one.
  if (path[0] === "environment" && path[1] !== "add") return { kind: "environment" };
  return { kind: argument.name() === "name" ? "tool" : "any" };
}
