import { type CompletedCommand, IDS, listValued, PLACE_OPTIONS, SESSION_IDS, type Values } from "./describe.js";

/**
 * The bash script. A function iterates over the words: it skips option values, collects the command path, and delegates to the
 * completion of the program at its first word.
 */
export function renderBash(commands: readonly CompletedCommand[]): string {
  return `_codex() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path="" word index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "$word" in
      --) case "$path" in ${programs(commands)}) _codex_program $((index + 1)); return ;; *) return ;; esac ;;
      ${listValued(commands).join("|")}) ((index += 1)); [ "\${COMP_WORDS[index]}" = "=" ] && ((index += 1)) ;;
      -*) ;;
      *)
        case "$path" in ${programs(commands)}) _codex_program $index; return ;; esac
        path="\${path:+$path }$word" ;;
    esac
  done
  [ "$previous" = "=" ] && previous=\${COMP_WORDS[COMP_CWORD-2]}
  [ "$current" = "=" ] && current=""
  case "$path|$previous" in
${commands.flatMap((command) => command.options.flatMap(({ names, value }) => (value === undefined ? [] : [`    ${names.map((name) => `"${command.path.join(" ")}|${name}"`).join("|")}) ${reply(value)}; return ;;`]))).join("\n")}
  esac
  case "$current" in -*) _codex_words "$(_codex_options "$path")"; return ;; esac
  case "$path" in
${commands.flatMap((command) => words(command)).join("\n")}
  esac
}
_codex_options() {
  case "$1" in
${commands.map(({ path, options }) => `    "${path.join(" ")}") echo "${options.flatMap(({ names }) => names).join(" ")}" ;;`).join("\n")}
  esac
}
_codex_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
_codex_files() { compopt -o default 2>/dev/null; }
_codex_tools() { _codex_words "$("\${COMP_WORDS[0]}" tools list 2>/dev/null | while read -r name _; do echo "$name"; done)"; }
_codex_environments() { _codex_words "$("\${COMP_WORDS[0]}" environment list --json 2>/dev/null | ${IDS})"; }
_codex_threads() { _codex_words "$("\${COMP_WORDS[0]}" threads list --all --json 2>/dev/null | ${IDS})"; }
_codex_sessions() {
  local -a line=() place=()
  # Bash makes several words of an address.
  read -ra line <<< "\${COMP_LINE:-\${COMP_WORDS[*]}}"
  for ((index = 1; index < \${#line[@]}; index++)); do
    case "\${line[index]}" in ${PLACE_OPTIONS.join("|")}) place+=("\${line[index]}" "\${line[index + 1]}") ;; esac
  done
  _codex_words "$("\${COMP_WORDS[0]}" sessions list --json "\${place[@]}" 2>/dev/null | ${SESSION_IDS})"
}
_codex_program() {
  if declare -F _command_offset >/dev/null; then _command_offset "$1"; return; fi
  if [ "$1" -eq "$COMP_CWORD" ]; then COMPREPLY=($(compgen -c -- "$current")); fi
  _codex_files
}
complete -F _codex codex codex-ts
`;
}

const pathsOf = (commands: readonly CompletedCommand[]) => commands.map(({ path }) => `"${path.join(" ")}"`).join("|");
const programs = (commands: readonly CompletedCommand[]) =>
  pathsOf(commands.filter(({ takesProgram }) => takesProgram));

function words({ path, takesProgram, words: values }: CompletedCommand): string[] {
  const name = `    "${path.join(" ")}"`;
  if (takesProgram) return [`${name}) _codex_program $COMP_CWORD ;;`];
  return [
    values === undefined ? `${name}) _codex_words "$(_codex_options "$path")" ;;` : `${name}) ${reply(values)} ;;`,
  ];
}

function reply(values: Values): string {
  if (values.kind === "choices") return `_codex_words "${values.choices.join(" ")}"`;
  return {
    file: "_codex_files",
    tool: "_codex_tools",
    environment: "_codex_environments",
    thread: "_codex_threads",
    session: "_codex_sessions",
    any: ":",
  }[values.kind];
}
