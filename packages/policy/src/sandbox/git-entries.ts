import { CLOSED_IN_GIT_DIRECTORY, type SandboxEntry } from "@codex/permissions";
import type { GitDirectories } from "./sandbox-settings.js";

/**
 * What a commit needs in a git directory. The directory as a whole is writable, because git puts a new file next to the
 * one it replaces; what git runs or trusts in it is read-only again, even where it does not exist yet.
 */
export function getGitEntries({ gitDirectory, commonDirectory }: GitDirectories): SandboxEntry[] {
  const closed = CLOSED_IN_GIT_DIRECTORY.map((name) => toEntry(`${gitDirectory}/${name}`, "read"));
  const shared = gitDirectory === commonDirectory ? [] : WRITTEN_IN_COMMON;
  return [
    toEntry(gitDirectory, "write"),
    ...closed,
    ...shared.map((name) => toEntry(`${commonDirectory}/${name}`, "write")),
  ];
}

/** What a commit in a worktree writes outside the git directory of that worktree. */
const WRITTEN_IN_COMMON = ["objects", "refs", "logs"];

/** An entry for a literal path. */
export const toEntry = (path: string, access: SandboxEntry["access"]): SandboxEntry => ({
  path: { type: "path", path },
  access,
});
