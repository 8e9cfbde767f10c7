/** Name of a program without its directory and `.exe`. */
export const programName = (word: string): string => (word.split("/").pop() ?? "").replace(/\.exe$/i, "");

/**
 * Whether a word names the program that everybody means by it: a bare name, or one in a directory of the system.
 * `./ls` is whatever somebody put there.
 */
export function isStandardProgram(word: string): boolean {
  const slash = word.lastIndexOf("/");
  return slash === -1 || STANDARD_DIRECTORIES.has(word.slice(0, slash));
}

const STANDARD_DIRECTORIES: ReadonlySet<string> = new Set([
  "/bin",
  "/sbin",
  "/usr/bin",
  "/usr/sbin",
  "/usr/local/bin",
  "/usr/local/sbin",
  "/opt/homebrew/bin",
  "/run/current-system/sw/bin",
]);

/** Shells whose script is an argument: `[shell, -c | -lc, script]`. */
export const POSIX_SHELLS: ReadonlySet<string> = new Set(["bash", "sh", "zsh", "dash", "ksh", "ash", "fish"]);

/** Programs that run the command in their arguments. */
export const WRAPPERS: ReadonlySet<string> = new Set([
  ...["sudo", "doas", "su", "env", "xargs", "parallel", "time", "timeout", "nice", "ionice", "nohup", "setsid"],
  ...["stdbuf", "chroot", "unshare", "nsenter", "flock", "watch", "script", "strace", "ltrace", "find", "fd", "ssh"],
  ...["command", "builtin", "exec", "coproc", "function", "noglob", "nocorrect", "busybox", "toybox", "systemd-run"],
]);

/** Builtins whose arguments are script text. */
export const EVALUATORS: ReadonlySet<string> = new Set(["eval", "trap", "alias", "source", "."]);
