import {
  type CompletedCommand,
  type CompletedOption,
  IDS,
  PLACE_OPTIONS,
  SESSION_IDS,
  type Values,
} from "./describe.js";
import { quote } from "./quote.js";

/** The zsh script: one function for each command, which calls `_arguments`. */
export function renderZsh(commands: readonly CompletedCommand[]): string {
  return `#compdef codex codex-ts
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
${commands.map((command) => renderFunction(command, commands)).join("\n")}
_codex_tools() {
  local -a names
  names=(\${\${(f)"$(_call_program tools codex-ts tools list 2>/dev/null || _call_program tools codex tools list 2>/dev/null)"}%% *})
  compadd -a names
}
_codex_environments() {
  local -a ids
  ids=(\${(f)"$(_call_program environments "codex environment list --json 2>/dev/null || codex-ts environment list --json 2>/dev/null" | ${IDS})"})
  compadd -a ids
}
_codex_threads() {
  local -a ids
  ids=(\${(f)"$(_call_program threads "codex threads list --all --json 2>/dev/null || codex-ts threads list --all --json 2>/dev/null" | ${IDS})"})
  compadd -a ids
}
_codex_sessions() {
  local -a ids place
  local index
  for ((index = 1; index < $#words; index++)); do
    case $words[index] in ${PLACE_OPTIONS.join("|")}) place+=($words[index] \${(q)words[index + 1]}) ;; esac
  done
  ids=(\${(f)"$(_call_program sessions "codex sessions list --json $place 2>/dev/null || codex-ts sessions list --json $place 2>/dev/null" | ${SESSION_IDS})"})
  compadd -a ids
}
compdef _codex codex codex-ts
`;
}

const functionOf = (path: readonly string[]) => ["_codex", ...path].join("_").replaceAll("-", "_");

function renderFunction(command: CompletedCommand, commands: readonly CompletedCommand[]): string {
  const { path, children, options, takesProgram, words } = command;
  const specs = options.flatMap(renderOption);
  const name = functionOf(path);
  if (takesProgram) {
    return `${name}() { _arguments -S ${[...specs, `'(-):program: _command_names -e'`, `'*::arguments: _normal'`].join(" ")} }`;
  }
  if (children.length === 0) {
    return `${name}() { _arguments ${[...specs, ...(words === undefined ? [] : [quote(`1:word:${actionOf(words)}`)])].join(" ")} }`;
  }
  const described = children.map((child) => quote(`${child.name}:${child.description}`)).join(" ");
  const known = children.filter((child) =>
    commands.some((other) => other.path.join(" ") === [...path, child.name].join(" ")),
  );
  const cases = known.map((child) => `${child.name}) ${functionOf([...path, child.name])} ;;`).join(" ");
  return `${name}() {
  local context state state_descr line
  local -A opt_args
  _arguments -C ${[...specs, "'1: :->command'", "'*:: :->rest'"].join(" ")}
  case $state in
    command) local -a described; described=(${described}); _describe command described ;;
    rest) case $line[1] in ${cases} esac ;;
  esac
}`;
}

function renderOption({ names, description, value }: CompletedOption): string[] {
  const text = description.replaceAll(/[[\]:\\]/g, "\\$&");
  return names.map((name) => quote(`*${name}[${text}]${value === undefined ? "" : `:value:${actionOf(value)}`}`));
}

function actionOf(values: Values): string {
  if (values.kind === "choices") return `(${values.choices.join(" ")})`;
  return {
    file: "_files",
    tool: "_codex_tools",
    environment: "_codex_environments",
    thread: "_codex_threads",
    session: "_codex_sessions",
    any: " ",
  }[values.kind];
}
