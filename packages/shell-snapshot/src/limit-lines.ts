import { listNewLines } from "./shell-state.js";

/**
 * `ulimit` commands for the limits that startup files have changed, from the reports of `ulimit -a`. Not for `-x`, which holds
 * the mark of a process, nor for `-p`, which cannot be set.
 */
export function renderLimits(kind: "S" | "H", base: string | undefined, now: string | undefined): string[] {
  return listNewLines(base, now).flatMap((line) => {
    // `open files   (-n) 1024` and `stack size   (kbytes, -s) 8192` in bash, `-n: file descriptors   1024` in zsh
    const [, inBash, inZsh, value] = /(?:-(\w)\)|^-(\w):.*?)\s+(\S+)$/.exec(line) ?? [];
    const letter = inBash ?? inZsh;
    return letter === undefined || "xp".includes(letter) ? [] : [`builtin ulimit -${kind} -${letter} ${value}`];
  });
}
