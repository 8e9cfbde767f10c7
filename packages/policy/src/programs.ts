/** Name of a program without its directory and `.exe`. */
export const programName = (word: string): string => (word.split("/").pop() ?? "").replace(/\.exe$/i, "");

/**
 * Whether a word names the standard program of that name: a bare name, or one in a system directory.
 * `./ls` may be any program.
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
