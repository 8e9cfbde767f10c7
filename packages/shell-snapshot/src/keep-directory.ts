import { basename } from "node:path";
import { quote } from "./shell-state.js";

interface ShellCommand {
  argv: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string>>;
}

/**
 * The arguments of a command, so that a shell runs its script in the directory of the command although startup files change it (`cd ~/work` in
 * `~/.bash_profile`, `~/.zshenv` or the file that `BASH_ENV` names). The script keeps its lines. What is not `[shell, flags, script]` of a
 * shell that reads such files is returned as it is.
 */
export function keepDirectory({ argv, cwd, env = {} }: ShellCommand): readonly string[] {
  const [shell = "", flags = "", script, ...rest] = argv;
  const cd = CD_OF_SHELL.get(basename(shell));
  if (cd === undefined || script === undefined || rest.length > 0) return argv;
  if (flags !== "-lc" && !(flags === "-c" && readsFileWithoutLogin(basename(shell), env))) return argv;
  const there = quote(cwd);
  return [shell, flags, `[ . -ef ${there} ] || ${cd} -- ${there} || exit 126; ${script}`];
}

/** `cd` itself, where startup files have defined a function of that name. */
const CD_OF_SHELL: ReadonlyMap<string, string> = new Map([
  ["bash", "builtin cd"],
  ["zsh", "builtin cd"],
  ["sh", "command cd"],
]);

const readsFileWithoutLogin = (shell: string, env: Readonly<Record<string, string>>): boolean =>
  shell === "zsh" || (shell === "bash" && env.BASH_ENV !== undefined);
