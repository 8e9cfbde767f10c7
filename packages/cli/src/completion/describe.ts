import type { Argument, Command, Option } from "commander";

/** The possible values of a word: fixed choices, file names, executor tool names, ids of environments, threads or sessions, or anything. */
export type Values =
  | { kind: "choices"; choices: readonly string[] }
  | { kind: "file" | "tool" | "environment" | "thread" | "session" | "any" };

/** An option to complete. */
export interface CompletedOption {
  /** Spellings, such as `--tty` and `-t`. */
  names: readonly string[];
  description: string;
  /** Possible values; undefined for a flag without a value. */
  value: Values | undefined;
}

/** A command to complete. */
export interface CompletedCommand {
  /** Names from the top, without `codex`; empty for `codex` itself. */
  path: readonly string[];
  description: string;
  children: readonly { name: string; description: string }[];
  options: readonly CompletedOption[];
  /** Values of its first argument; undefined if it has none. */
  words: Values | undefined;
  /** Its first argument begins the command line of a program. */
  takesProgram: boolean;
}

/** All commands of the tree, each before its subcommands. */
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

/** Spellings of the options with a value, which take one in every command that has them. */
export const listValued = (commands: readonly CompletedCommand[]): string[] => [
  ...new Set(
    commands.flatMap(({ options }) => options.flatMap(({ names, value }) => (value === undefined ? [] : names))),
  ),
];

/** Shell command that extracts the ids from `codex environment list --json`. */
export const IDS = `sed -n 's/^ *"id": "\\([^"]*\\)".*/\\1/p'`;

/** Shell command that extracts the ids from `codex sessions list --json`. */
export const SESSION_IDS = `sed -n 's/^ *"sessionId": \\([0-9]*\\).*/\\1/p'`;

/** Options that say whose sessions are listed, each with a value. */
export const PLACE_OPTIONS: readonly string[] = ["--executor", "--environment", "--token-file", "--ca-file"];

/** Names of arguments that begin a command line. */
const PROGRAM_ARGUMENTS: ReadonlySet<string> = new Set(["program", "command"]);

function describeOption({ short, long, description, required, optional, argChoices, flags }: Option): CompletedOption {
  const names = [long, short].filter((name) => name != null);
  if (!required && !optional) return { names, description, value: undefined };
  if (argChoices !== undefined) return { names, description, value: { kind: "choices", choices: argChoices } };
  const placeholder = /<([^<>]+)>/.exec(flags)?.[1] ?? "";
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
  if (argument.name() === "thread") return { kind: "thread" };
  if (path[0] === "sessions" && argument.name() === "id") return { kind: "session" };
  // `environment add` takes a new id.
  if (path[0] === "environment" && path[1] !== "add") return { kind: "environment" };
  return { kind: argument.name() === "name" ? "tool" : "any" };
}
