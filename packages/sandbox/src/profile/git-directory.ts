import { lstat, opendir, unlink } from "node:fs/promises";
import { join, resolve } from "node:path/posix";
import { CLOSED_IN_GIT_DIRECTORY, WRITTEN_IN_GIT_DIRECTORY } from "@codex/permissions";
import { MAX_GIT_NAMES } from "../limits.js";
import type { HostFiles } from "./host-files.js";
import type { ProfileEntry } from "./profile.js";

/** Directories that are writable for commits: writable themselves, with read-only configuration. */
export const listCommitDirectories = (entries: ReadonlyMap<string, ProfileEntry>, files: HostFiles): string[] =>
  [...entries.values()]
    .filter(({ path, access, kind }) => access === "write" && kind === "directory" && isClosed(entries, path))
    .map(({ path }) => path)
    .filter((path) => files.kind(join(path, "HEAD")) === "file");

/**
 * Whether git would take a directory itself for a git directory: a bare repository, or one that a `.git` file refers to. In a
 * directory with a `.git` git uses that one.
 */
export const isGitDirectory = (path: string, files: HostFiles): boolean => {
  const kindOf = (name: string) => files.kind(join(path, name));
  if (kindOf("HEAD") === "missing" || (kindOf(".git") !== "missing" && !files.isPlaceholder(join(path, ".git"))))
    return false;
  return kindOf("commondir") === "file" || ["objects", "refs"].every((name) => kindOf(name) !== "missing");
};

const isClosed = (entries: ReadonlyMap<string, ProfileEntry>, directory: string): boolean => {
  const config = entries.get(join(directory, "config"));
  return config !== undefined && config.access !== "write";
};

/**
 * What is read-only in such a directory besides its given entries: every existing name that no commit writes, and
 * the names of `CLOSED_IN_GIT_DIRECTORY`. HEAD is read-only while it names a branch, which a commit does not change: a git
 * directory with a broken HEAD is not one, and git would take the workspace itself for one.
 */
export function listClosedInGit(
  directory: string,
  files: HostFiles,
  toEntry: (path: string) => ProfileEntry | undefined,
): ProfileEntry[] {
  const present = files.list(directory).filter(({ name, kind }) => kind !== "link" && !isWritten(name));
  const isOnBranch = files.firstLine(join(directory, "HEAD"))?.startsWith("ref:") === true;
  const names = present.map(({ name }) => name).filter((name) => name !== "HEAD" || isOnBranch);
  const entries = [...new Set([...CLOSED_IN_GIT_DIRECTORY, ...names])].map((name) => toEntry(join(directory, name)));
  return entries.filter((entry) => entry !== undefined);
}

/** Files that git writes next to those that they replace, and parts of a split index. */
const isWritten = (name: string): boolean =>
  WRITTEN_IN_GIT_DIRECTORY.includes(name) || name.endsWith(".lock") || name.startsWith("sharedindex.");

/** Paths that are written in place or must not be moved: a mount point can neither be removed nor replaced by a link. */
export function listGitPins(directory: string, files: HostFiles): ProfileEntry[] {
  return PINNED.map(
    ([name, kind]): ProfileEntry => ({ path: join(directory, name), access: "write", kind, pin: true }),
  ).filter(({ path, kind }) => files.kind(path) === kind);
}

const PINNED: readonly (readonly [string, "directory" | "file"])[] = [
  ["objects", "directory"],
  ["refs", "directory"],
  ["refs/heads", "directory"],
  ["logs", "directory"],
  ["logs/refs", "directory"],
  ["logs/refs/heads", "directory"],
  ["logs/HEAD", "file"],
  ["COMMIT_EDITMSG", "file"],
];

/**
 * Removes links that were created in writable git directories since `sinceMs` (of the host's clock, milliseconds): git creates
 * none there, and the next git outside would write where they lead. Never rejects.
 */
export async function removeGitLinks(directories: readonly string[], sinceMs: number, files: HostFiles): Promise<void> {
  const budget = { names: MAX_GIT_NAMES };
  for (const directory of directories) {
    await removeLinks(directory, sinceMs, 0, budget);
    const common = files.firstLine(join(directory, "commondir"))?.trim();
    const roots = new Set([directory, common === undefined ? directory : resolve(directory, common)]);
    for (const root of roots) {
      for (const name of LINKED_TREES) await removeLinks(join(root, name), sinceMs, MAX_DEPTH, budget);
    }
  }
}

const LINKED_TREES = ["logs", "refs", "objects"];
/** Directories below each other; names of branches have few parts. */
const MAX_DEPTH = 32;

async function removeLinks(
  directory: string,
  sinceMs: number,
  depth: number,
  budget: { names: number },
): Promise<void> {
  try {
    for await (const entry of await opendir(directory)) {
      budget.names -= 1;
      if (budget.names < 0) return;
      const path = join(directory, entry.name);
      if (entry.isSymbolicLink()) {
        if ((await lstat(path)).ctimeMs >= sinceMs) await unlink(path);
      } else if (entry.isDirectory() && depth > 0) await removeLinks(path, sinceMs, depth - 1, budget);
    }
  } catch {
    // It is gone or cannot be inspected.
  }
}
