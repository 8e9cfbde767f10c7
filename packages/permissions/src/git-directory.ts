/**
 * What a commit writes in a git directory, each with everything below it. Everything else there is closed: git runs it,
 * trusts it, or writes where it points.
 */
export const WRITTEN_IN_GIT_DIRECTORY: readonly string[] = [
  "objects",
  "refs",
  "logs",
  "packed-refs",
  "index",
  "COMMIT_EDITMSG",
  "ORIG_HEAD",
  // Left by a merge or cherry-pick for the commit that concludes it, which removes them.
  "MERGE_HEAD",
  "MERGE_MSG",
  "MERGE_MODE",
  "MERGE_RR",
  "AUTO_MERGE",
  "SQUASH_MSG",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "gc.pid",
  "gc.log",
];

/**
 * Names in an opened git directory that stay closed even if they do not exist yet: files that git runs, or that tell git
 * where to look, would take effect outside the sandbox.
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
  "remotes",
  "branches",
  "sequencer",
  "rebase-merge",
  "rebase-apply",
];

/** Names below a writable directory that stay read-only: their contents are run or trusted outside the sandbox. */
export const PROTECTED_NAMES: readonly string[] = [".git", ".agents", ".codex", ".aws"];
