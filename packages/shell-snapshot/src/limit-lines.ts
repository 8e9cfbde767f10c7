/**
 * `ulimit` commands for limits, from lines of the report of `ulimit -a`. Not for `-x`, which contains
 * the mark of a process, nor for `-p`, which cannot be set.
 */
export function renderLimits(kind: "S" | "H", lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    // `open files   (-n) 1024` and `stack size   (kbytes, -s) 8192` in bash, `-n: file descriptors   1024` in zsh
    const [, inBash, inZsh] = /-(\w)\)\s|^-(\w):/.exec(line) ?? [];
    const letter = inBash ?? inZsh;
    const value = line.split(/\s/).at(-1);
    return letter === undefined || value === "" || "xp".includes(letter)
      ? []
      : [`builtin ulimit -${kind} -${letter} ${value}`];
  });
}
