import { NONCE, OWN_PREFIX, quote, type ShellState } from "./shell-state.js";
import { createRenderer, type RenderState, renderProcessLimits, type StateChange } from "./state-change.js";

/** Run by `bash -c` and `bash -lc`: prints the state of the shell. It relies on no setting, alias or function of the shell. */
export const BASH_REPORT = String.raw`
__codex_s=$? __codex_o=$(builtin set +o) __codex_i=$IFS
builtin set +eux; builtin set +o pipefail; IFS=$' \t\n' __codex_d=(/proc/$$/fd/*)
__codex_p() { builtin printf '%s\0' "$@"; }
builtin printf '\n%s\0' '@NONCE@'
__codex_p status '' "$__codex_s" options '' "$__codex_o" shopt '' "$(builtin shopt -p)"
__codex_p umask '' "$(builtin umask)" soft '' "$(builtin ulimit -Sa)" hard '' "$(builtin ulimit -Ha)"
__codex_p traps '' "$(builtin trap -p)" aliases '' "$(builtin alias -p)" attributes '' "$(builtin declare -F)"
__codex_p stack '' "\${DIRSTACK[*]:1}" builtins '' "$(builtin enable -a)"
__codex_p jobs '' "$(builtin jobs -p)" descriptors '' "\${__codex_d[*]##*/}"
for __codex_n in $(builtin compgen -A function); do __codex_p function "$__codex_n" "$(builtin declare -f -- "$__codex_n")"; done
for __codex_n in $(builtin compgen -v); do
  case $__codex_n in
    IFS) __codex_p variable IFS "$(IFS=$__codex_i; builtin declare -p IFS)" ;;
    *) __codex_p variable "$__codex_n" "$(builtin declare -p -- "$__codex_n" 2>/dev/null)" ;;
  esac
done
builtin printf '%s\0' '@NONCE@'
`
  .replaceAll("\\$", "$")
  .replaceAll("@NONCE@", NONCE);

/** State that a sourced file cannot restore: a login shell has to set it up. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  stack: "they use the directory stack",
  builtins: "they disable builtins or load others",
  jobs: "they leave jobs running",
  descriptors: "they open files",
};

/** Renders the state of bash. */
export const renderBash: RenderState = createRenderer(UNSUPPORTED, (change, keeps) => {
  const { text, differs, newLines } = change;
  if (/ (DEBUG|RETURN)$/m.test(text("traps") ?? "")) return { reason: "they set a trap for DEBUG or RETURN" };
  const shopts = newLines("shopt").filter((line) => !/ (login_shell|restricted_shell)$/.test(line));
  const isAliasSwitch = (line: string) => line.endsWith(" expand_aliases");
  const functions = change.changed("functions").filter(({ name }) => !name.startsWith(OWN_PREFIX));
  const attributes = newLines("attributes").filter((line) => /^declare -f\w+ (?!__codex_)/.test(line));
  return [
    ...shopts.filter((line) => !isAliasSwitch(line)),
    ...renderVariables(change, keeps),
    ...change.removed("functions").map((name) => `builtin unset -f ${quote(name)}`),
    // Before the functions and while aliases are off: a function body must not be expanded a second time.
    ...(differs("aliases") ? ["builtin unalias -a", text("aliases") ?? ""] : []),
    ...functions.map((changed) => changed.text),
    ...attributes.map((line) => `builtin ${line}`),
    ...renderProcessLimits(change),
    ...(differs("traps") ? [text("traps") ?? ""] : []),
    ...shopts.filter(isAliasSwitch),
    ...newLines("options").map((line) => `builtin ${line}`),
  ];
});

/** Variables of the shell itself, or different in every process. */
const SHELL_VARIABLES =
  /^(BASH|BASHOPTS|BASHPID|BASH_(ALIASES|ARGC|ARGV|ARGV0|CMDS|COMMAND|ENV|EXECUTION_STRING|LINENO|REMATCH|SOURCE|SUBSHELL|VERSINFO|VERSION)|COMP_\w+|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|COLUMNS|LINES|_|__codex_\w+)$/;

function renderVariables(change: StateChange, keeps: (name: string) => boolean): string[] {
  const isOurs = (name: string) => !SHELL_VARIABLES.test(name) && !keeps(name);
  const gone = change.removed("variables").filter(isOurs);
  const changed = change.changed("variables").filter((variable) => isOurs(variable.name) && variable.text !== "");
  return [
    ...gone.map((name) => `builtin unset -v ${name}`),
    // Unset first, so that no attribute remains, such as export.
    ...changed.flatMap(({ name, text, isNew }) => (isNew ? [text] : [`builtin unset -v ${name}`, text])),
  ];
}

/** Removes what differs in every bash, or between a login shell and another one. */
export function normalizeBash({ texts, variables, functions }: ShellState): ShellState {
  const without = (text: string | undefined, lines: RegExp) => (text ?? "").replace(lines, "");
  return {
    texts: new Map([
      ...[...texts].filter(([kind]) => kind !== "status"),
      ["shopt", without(texts.get("shopt"), /^shopt -\w login_shell$/gm)],
      ["soft", without(texts.get("soft"), MARK_LINE)],
      ["hard", without(texts.get("hard"), MARK_LINE)],
    ]),
    variables: new Map([...variables].filter(([name]) => !SHELL_VARIABLES.test(name))),
    functions,
  };
}

/** The limit that contains the mark of a process. */
const MARK_LINE = /^.*-x\).*$/gm;
