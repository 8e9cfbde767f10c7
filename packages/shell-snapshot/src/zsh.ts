import { NONCE, quote, type ShellState } from "./shell-state.js";
import { createRenderer, type RenderState, renderProcessLimits, type StateChange } from "./state-change.js";

/**
 * Run by `zsh -fc` and `zsh -lc`: prints the state of the shell. The shell itself lists the descriptors: in a `$(…)` its pipe
 * may still be open, or not.
 */
export const ZSH_REPORT = String.raw`
() {
  local __codex_s=$1 __codex_n __codex_o=""
  builtin zmodload zsh/parameter
  for __codex_n in "\${(@ok)options}"; do __codex_o+="$__codex_n=$options[$__codex_n]"$'\n'; done
  builtin emulate -L zsh
  local -a __codex_d=(/proc/$$/fd/*(N:t))
  builtin printf '\n%s\0' '@NONCE@'
  builtin printf '%s\0' options '' "$__codex_o" umask '' "$(builtin umask)"
  builtin printf '%s\0' soft '' "$(builtin ulimit -Sa)" hard '' "$(builtin ulimit -Ha)"
  builtin printf '%s\0' traps '' "$(builtin trap)" aliases '' "$(builtin alias -L)" hashes '' "$(builtin hash -dL)"
  builtin printf '%s\0' modules '' "$(builtin zmodload -L)" styles '' "$(builtin whence zstyle >/dev/null && builtin zstyle -L)"
  builtin printf '%s\0' stack '' "\${(F)dirstack}" builtins '' "\${(ok)dis_builtins}"
  builtin printf '%s\0' jobs '' "\${(k)jobstates}" descriptors '' "\${(j: :)__codex_d}"
  for __codex_n in "\${(@k)functions}"; do builtin printf '%s\0' function "$__codex_n" "$(builtin typeset -f -- "$__codex_n")"; done
  for __codex_n in "\${(@k)parameters}"; do
    [[ $parameters[$__codex_n] == (*readonly*special*|*special*readonly*|array*special*|association*special*|*hideval*|*local*) ]] && continue
    builtin printf '%s\0' variable "$__codex_n" "$(builtin typeset -p -- "$__codex_n" 2>/dev/null)"
  done
  builtin printf '%s\0' '@NONCE@'
} $?
`
  .replaceAll("\\$", "$")
  .replaceAll("@NONCE@", NONCE);

const UNSUPPORTED: Readonly<Record<string, string>> = {
  stack: "they use the directory stack",
  builtins: "they disable builtins",
  jobs: "they leave jobs running",
  descriptors: "they open files",
};

/** Renders the state of zsh. */
export const renderZsh: RenderState = createRenderer(UNSUPPORTED, (change, keeps) => {
  const { text, differs, newLines } = change;
  return [
    ...newLines("modules"),
    ...renderVariables(change, keeps),
    // While aliases are off: a function body must not be expanded a second time.
    "builtin setopt noaliases",
    ...change.removed("functions").map((name) => `builtin unfunction -- ${quote(name)}`),
    ...change.changed("functions").map((changed) => changed.text),
    "builtin setopt aliases",
    ...(differs("aliases") ? ["builtin unalias -m '*'", text("aliases") ?? ""] : []),
    ...(differs("hashes") ? [text("hashes") ?? ""] : []),
    ...(differs("styles") ? [text("styles") ?? ""] : []),
    ...renderProcessLimits(change),
    ...(differs("traps") ? [text("traps") ?? ""] : []),
    ...newLines("options").flatMap(renderOption),
    "builtin setopt globalrcs",
  ];
});

/** Options that depend on how the shell was called, not on its startup files. */
const INVOCATION_OPTIONS = [
  "interactive",
  "login",
  "rcs",
  "globalrcs",
  "shinstdin",
  "singlecommand",
  "monitor",
  "zle",
  "exec",
  "privileged",
  "restricted",
];

function renderOption(line: string): string[] {
  const [name = "", state] = line.split("=");
  return INVOCATION_OPTIONS.includes(name) ? [] : [`builtin ${state === "on" ? "setopt" : "unsetopt"} ${name}`];
}

const SHELL_VARIABLES =
  /^(_|0|ARGC|argv|status|pipestatus|ERRNO|EGID|EUID|GID|UID|USERNAME|HISTCMD|LINENO|PPID|PWD|OLDPWD|RANDOM|SECONDS|SHLVL|TTY|TTYIDLE|TRY_\w+|ZSH_\w+|ZDOTDIR|EPOCH\w+|COLUMNS|LINES|LOGNAME|CPUTYPE|MACHTYPE|OSTYPE|VENDOR|HOST|KEYTIMEOUT|__codex_\w+|[^A-Za-z_].*)$/;

function renderVariables(change: StateChange, keeps: (name: string) => boolean): string[] {
  const isOurs = (name: string) => !SHELL_VARIABLES.test(name) && !keeps(name);
  const gone = change.removed("variables").filter(isOurs);
  const changed = change.changed("variables").filter((variable) => isOurs(variable.name) && variable.text !== "");
  return [...gone.map((name) => `builtin unset -v ${quote(name)}`), ...changed.map((variable) => variable.text)];
}

/** Removes what differs in every zsh. */
export function normalizeZsh({ texts, variables, functions }: ShellState): ShellState {
  const without = (text: string | undefined) => (text ?? "").replace(MARK_LINE, "");
  return {
    texts: new Map([
      ...[...texts].filter(([kind]) => kind !== "status"),
      ["soft", without(texts.get("soft"))],
      ["hard", without(texts.get("hard"))],
    ]),
    variables: new Map([...variables].filter(([name]) => !SHELL_VARIABLES.test(name))),
    // An autoloaded function is reported in two ways.
    functions: new Map(
      [...functions].map(([name, body]) => [name, body.includes("builtin autoload -X") ? "autoload" : body]),
    ),
  };
}

/** The limit that contains the mark of a process. */
const MARK_LINE = /^-x:.*$/gm;
