import type { Argument, Command, Option } from "commander";
import { forTerminal } from "../notice.js";

/** The part of a help text below the options. */
export interface Notes {
  /** Paragraphs. */
  text?: readonly string[];
  /** An exit code, or several, and what it means. */
  exitCodes?: readonly (readonly [code: string, meaning: string])[];
  /** Command lines. */
  examples?: readonly string[];
}

/** Columns of a help text that is not written to a terminal. */
const DEFAULT_WIDTH = 80;

/** One style for all help texts. Call it before adding commands, which inherit it. */
export const styleHelp = (program: Command): Command =>
  program
    .helpOption("-h, --help", "Print help")
    .helpCommand("help [command]", "Print help for a command")
    .configureHelp({ optionDescription: describeOption, argumentDescription: describeOption, minWidthToWrap: 20 })
    .configureOutput({
      getOutHelpWidth: () => getWidth(process.stdout),
      getErrHelpWidth: () => getWidth(process.stderr),
      writeErr: (text) => process.stderr.write(forTerminal(process.stderr)(text)),
      outputError: (text, write) => write(`${renderError(text)}${explainUnknown(text)}`),
    });

/** After an error each command names its own help and where the option belongs. Call it once all commands are added. */
export function nameHelpAfterErrors(command: Command, path = command.name()): void {
  command.showHelpAfterError(`Try: ${path} --help`);
  const { outputError = () => {} } = command.configureOutput();
  command.configureOutput({
    outputError: (text, write) =>
      outputError(text, (shown) => write(`${shown}${explainPlace(text, command, path)}${explainWords(text, command)}`)),
  });
  if (command.commands.length > 0) command.addHelpText("before", () => explainTopic(command));
  for (const child of command.commands) nameHelpAfterErrors(child, `${path} ${child.name()}`);
}

/** For `help WORD` where WORD is no command: commander would print the help of the group as an error. */
function explainTopic(command: Command): string {
  const [word, topic] = command.args;
  if (word !== "help" || topic === undefined) return "";
  command.args = [];
  if (["help", "-h", "--help"].includes(topic)) return command.help();
  return command.error(`error: unknown command '${topic}'`, { exitCode: 2 });
}

export const addNotes = (command: Command, notes: Notes): Command =>
  command.addHelpText("after", ({ error }) => renderNotes(notes, getWidth(error ? process.stderr : process.stdout)));

/** Wrapped to a width; examples are left as they are, to be copied. */
export function renderNotes({ text = [], exitCodes = [], examples = [] }: Notes, width: number): string {
  const indent = 2 + Math.max(0, ...exitCodes.map(([code]) => code.length)) + 2;
  const rows = exitCodes.map(
    ([code, meaning]) => `  ${code.padEnd(indent - 2)}${wrap(meaning, width - indent).join(`\n${" ".repeat(indent)}`)}`,
  );
  const parts = [
    ...text.map((paragraph) => wrap(paragraph, width).join("\n")),
    ...(rows.length === 0 ? [] : [`Exit codes:\n${rows.join("\n")}`]),
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.map((line) => `  ${line}`).join("\n")}`]),
  ];
  return parts.map((part) => `\n${part}`).join("\n");
}

const getWidth = (stream: NodeJS.WriteStream): number =>
  Math.max(40, (stream.isTTY && stream.columns) || DEFAULT_WIDTH);

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Description of an option with its choices and its default, unless that is obvious. */
function describeOption({ description, argChoices, defaultValue, defaultValueDescription }: Option | Argument): string {
  const isSaid = defaultValue !== undefined && defaultValue !== false && !Array.isArray(defaultValue);
  const fallback = defaultValueDescription ?? (isSaid ? String(defaultValue) : undefined);
  const more = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(", ")}`]),
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
  ];
  return more.length === 0 ? description : `${description} (${more.join("; ")})`;
}

/** Removes the invalid value from commander's prefix: the reason shows it. */
const renderError = (text: string): string =>
  text
    .replace(/^error: /, "codex: ")
    .replace(/^(codex: option '[^']*') argument '.*' is invalid\. Expected (.*, got ".*")\.$/ms, "$1: expected $2")
    .replace(
      /^codex: command-argument value '.*' is invalid for (argument '[^']*')\. Expected (.*)\.$/ms,
      "codex: $1: expected $2",
    );

/** For a prompt without quotes: its first word would be the prompt. */
const explainWords = (error: string, command: Command): string =>
  error.startsWith("error: too many arguments") && command.registeredArguments.some((each) => each.name() === "prompt")
    ? "A prompt of several words goes in quotes\n"
    : "";

/** For an option that was typed before the command that takes it. */
function explainPlace(error: string, command: Command, path: string): string {
  const typed = /^error: unknown option '(--[^=']+|-[^-'])/.exec(error)?.[1];
  if (typed === undefined) return "";
  const takers = listTakers(command, typed, path);
  if (takers.length === 0) return "";
  const names = takers.slice(0, MAX_TAKERS).join(", ");
  const more = takers.length > MAX_TAKERS ? ` and ${takers.length - MAX_TAKERS} more` : "";
  return `Options follow their command; ${typed} belongs to ${names}${more}\n`;
}

/** Maximum number of commands that are named as taking an option. */
const MAX_TAKERS = 4;

const listTakers = (command: Command, flag: string, path: string): string[] =>
  command.commands.flatMap((child) => {
    const name = `${path} ${child.name()}`;
    const takes = child.options.some(({ short, long }) => short === flag || long === flag);
    return [...(takes ? [name] : []), ...listTakers(child, flag, name)];
  });

/** For users who expect OpenAI's `codex`. */
function explainUnknown(error: string): string {
  const name = /^error: unknown command '([^']*)'/.exec(error)?.[1] ?? "";
  if (CODEX_COMMANDS.has(name))
    return `OpenAI's codex has \`${name}\`; this is another program, which does not have it\n`;
  return /\s/.test(name) ? "A prompt goes to codex exec\n" : "";
}

/** Commands of Codex 0.169.0 that are not here. */
const CODEX_COMMANDS: ReadonlySet<string> = new Set(
  "agents login logout mcp plugin app-server remote-control update debug apply a resume queue archive delete unarchive fork cloud features".split(
    " ",
  ),
);
