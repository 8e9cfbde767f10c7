import { renderLimits } from "./limit-lines.js";
import {
  findUnsupported,
  listChanged,
  listNewLines,
  NONCE,
  OWN_PREFIX,
  quote,
  type ShellState,
} from "./shell-state.js";

/** Run by `bash -c` and `bash -lc`: prints the state of the shell. It relies on no setting, alias or function of the shell. */
export const BASH_REPORT = String.raw`
__codex_s=$? __codex_o=$(builtin set +o) __codex_i=$IFS
builtin set +eux; builtin set +o pipefail; IFS=$' \t\n' __codex_d=(/proc/$$/fd/*)
__codex_p() { builtin printf '%s\0' "$@"; }
builtin printf '\n%s\0' '@NONCE@'
__codex_p status '' "$__codex_s" options '' "$__codex_o" shopt '' "$(builtin shopt -p)"
__codex_p umask '' "$(builtin umask)" soft '' "$(builtin ulimit -Sa)" hard '' "$(builtin ulimit -Ha)"
__codex_p traps '' "$(builtin trap -p)" aliases '' "$(builtin alias -p)" attributes '' "$(builtin declare -F)"
__codex_p directory '' "$PWD" stack '' "$(builtin dirs -p)" builtins '' "$(builtin enable -a)"
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
  directory: "they change the directory",
  stack: "they use the stack of directories",
  builtins: "they switch builtins off or load others",
  jobs: "they leave jobs running",
  descriptors: "they open files",
};

/**
 * Renders a file that gives a shell the state `now`, in which its startup files left it, from the state `base` without them.
 * @param keeps whether a variable must stay as it is in the environment of the command
 * @returns the file, or why it cannot be done
 */
export function renderBash(
  base: ShellState,
  now: ShellState,
  keeps: (name: string) => boolean,
): string | { reason: string } {
  const reason = findUnsupported(base, now, UNSUPPORTED);
  if (reason !== undefined) return { reason };
  const text = (kind: string) => now.texts.get(kind);
  const changed = (kind: string) => listNewLines(base.texts.get(kind), text(kind));
  if (/ (DEBUG|RETURN)$/m.test(text("traps") ?? "")) return { reason: "they set a trap for DEBUG or RETURN" };
  const shopts = changed("shopt").filter((line) => !/ (login_shell|restricted_shell)$/.test(line));
  const isAliasSwitch = (line: string) => line.endsWith(" expand_aliases");
  const functions = listChanged(base.functions, now.functions).filter(([name]) => !name.startsWith(OWN_PREFIX));
  const attributes = changed("attributes").filter((line) => /^declare -f\w+ (?!__codex_)/.test(line));
  const aliases = text("aliases") === base.texts.get("aliases") ? [] : ["builtin unalias -a", text("aliases") ?? ""];
  const traps = text("traps") === base.texts.get("traps") ? [] : [text("traps") ?? ""];
  return [
    ...shopts.filter((line) => !isAliasSwitch(line)),
    ...renderVariables(base, now, keeps),
    ...[...base.functions.keys()]
      .filter((name) => !now.functions.has(name))
      .map((name) => `builtin unset -f ${quote(name)}`),
    // Before the functions and while aliases are off: a function body must not be expanded a second time.
    ...aliases,
    ...functions.map(([, body]) => body),
    ...attributes.map((line) => `builtin ${line}`),
    `builtin umask ${text("umask")}`,
    ...renderLimits("S", base.texts.get("soft"), text("soft")),
    ...renderLimits("H", base.texts.get("hard"), text("hard")),
    ...traps,
    ...shopts.filter(isAliasSwitch),
    ...changed("options").map((line) => `builtin ${line}`),
  ].join("\n");
}

/** Variables of the shell itself, or different in every process. */
const SHELL_VARIABLES =
  /^(BASH|BASHOPTS|BASHPID|BASH_(ALIASES|ARGC|ARGV|ARGV0|CMDS|COMMAND|ENV|EXECUTION_STRING|LINENO|REMATCH|SOURCE|SUBSHELL|VERSINFO|VERSION)|COMP_\w+|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|COLUMNS|LINES|_|__codex_\w+)$/;

function renderVariables(base: ShellState, now: ShellState, keeps: (name: string) => boolean): string[] {
  const isOurs = (name: string) => !SHELL_VARIABLES.test(name) && !keeps(name);
  const gone = [...base.variables.keys()].filter((name) => !now.variables.has(name) && isOurs(name));
  const changed = listChanged(base.variables, now.variables).filter(([name, line]) => isOurs(name) && line !== "");
  return [
    ...gone.map((name) => `builtin unset -v ${name}`),
    // Unset first, so that no attribute remains, such as export.
    ...changed.flatMap(([name, line]) => [...(base.variables.has(name) ? [`builtin unset -v ${name}`] : []), line]),
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

/** The limit that holds the mark of a process. */
const MARK_LINE = /^.*-x\).*$/gm;
