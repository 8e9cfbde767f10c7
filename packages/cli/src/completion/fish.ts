import {
  type CompletedCommand,
  type CompletedOption,
  IDS,
  listValued,
  PLACE_OPTIONS,
  SESSION_IDS,
  type Values,
} from "./describe.js";
import { quote } from "./quote.js";

/** The fish script: `complete` commands, each with the condition under which it applies. */
export function renderFish(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => [
    ...renderWords(command),
    ...command.options.map((option) => renderOption(command, option)),
  ]);
  return `${[renderProgram(commands), SESSIONS, "complete -c codex -f", ...lines, "complete -c codex-ts -w codex"].join("\n")}\n`;
}

/** Completes the command line of a program that follows the words of the command (`$argv[1]` of them) and its options. */
const renderProgram = (commands: readonly CompletedCommand[]): string => `function __codex_program
  set -l tokens (commandline -opc)
  set -e tokens[1..$argv[1]]
  while set -q tokens[1]
    switch $tokens[1]
      case --
        set -e tokens[1]
        break
      case ${listValued(commands).join(" ")}
        set -e tokens[1]
        set -q tokens[1]; and set -e tokens[1]
      case '-*'
        set -e tokens[1]
      case '*'
        break
    end
  end
  # An option of codex itself is not the beginning of a program.
  set -q tokens[1]; or not string match -q -- '-*' (commandline -ct); or return
  complete -C (string join ' ' -- (string escape -- $tokens) (commandline -ct))
end`;

/** Completes the sessions of the executor that the line names. */
const SESSIONS = `function __codex_sessions
  set -l tokens (commandline -opc)
  set -l place
  for index in (seq (count $tokens))
    if contains -- $tokens[$index] ${PLACE_OPTIONS.join(" ")}
      set -a place $tokens[$index] $tokens[(math $index + 1)]
    end
  end
  codex sessions list --json $place 2>/dev/null | ${SESSION_IDS}
end`;

function conditionOf({ path, children }: CompletedCommand): string {
  const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`);
  const names = children.map(({ name }) => name).join(" ");
  const unseen = children.length === 0 ? [] : [`not __fish_seen_subcommand_from ${names}`];
  return quote([...seen, ...unseen].join("; and ") || "true");
}

function renderWords(command: CompletedCommand): string[] {
  const line = `complete -c codex -n ${conditionOf(command)}`;
  if (command.takesProgram) {
    return [`${line} -a ${quote(`(__codex_program ${command.path.length + 1})`)}`];
  }
  if (command.children.length > 0) {
    return command.children.map(({ name, description }) => `${line} -a ${name} -d ${quote(description)}`);
  }
  return command.words === undefined ? [] : [`${line} ${wordsOf(command.words)}`.trimEnd()];
}

function renderOption(command: CompletedCommand, { names, description, value }: CompletedOption): string {
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
  const required = value === undefined ? "" : ` ${value.kind === "file" ? "-r" : "-x"} ${wordsOf(value)}`;
  return `complete -c codex -n ${conditionOf(command)} ${flags}${required.trimEnd()} -d ${quote(description)}`;
}

function wordsOf(values: Values): string {
  if (values.kind === "choices") return `-a ${quote(values.choices.join(" "))}`;
  const ids = { environment: ENVIRONMENTS, thread: THREADS, session: "(__codex_sessions)", tool: TOOLS };
  if (values.kind === "file" || values.kind === "any") return values.kind === "file" ? "-F" : "";
  return `-a ${quote(ids[values.kind])}`;
}

const ENVIRONMENTS = `(codex environment list --json 2>/dev/null | ${IDS})`;
const THREADS = `(codex threads list --all --json 2>/dev/null | ${IDS})`;
const TOOLS = "(codex tools list 2>/dev/null | string split -f1 ' ')";
