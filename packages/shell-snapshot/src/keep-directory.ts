import { basename, isAbsolute } from "node:path";
import { quote } from "./shell-state.js";

/**
 * The arguments of a command, so that a login shell runs its script in the directory of the command although startup files
 * change it (`cd ~/work` in `~/.bash_profile`). The script keeps its lines. Anything but `[shell, "-lc", script]` of bash or
 * zsh is returned as it is.
 */
export function keepDirectory({ argv, cwd }: { argv: readonly string[]; cwd: string }): readonly string[] {
  const [shell = "", flags, script, ...rest] = argv;
  const isShell = isAbsolute(shell) && ["bash", "zsh"].includes(basename(shell));
  if (!isShell || flags !== "-lc" || script === undefined || rest.length > 0) return argv;
  const there = quote(cwd);
  return [shell, flags, `[[ . -ef ${there} ]] || builtin cd -- ${there} || builtin exit 126; ${script}`];
}
