/**
 * Names in a git directory that a command must not write although it commits: what git runs, or what tells git where to
 * look, would take effect outside the sandbox. Not among them is what a commit writes, such as `index` and `objects`.
 */
export const CLOSED_IN_GIT_DIRECTORY: readonly string[] = [
  "hooks",
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
  "info",
  "modules",
  "worktrees",
];

/** Names below a writable directory that stay read-only: what is in them is run or believed outside the sandbox. */
export const PROTECTED_NAMES: readonly string[] = [".git", ".agents", ".codex", ".aws"];
