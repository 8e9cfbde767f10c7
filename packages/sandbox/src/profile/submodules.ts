import { join, resolve } from "node:path/posix";
import { MAX_INDEX_BYTES, MAX_SUBMODULE_DIRECTORIES, MAX_SUBMODULES } from "../limits.js";
import { listGitlinks } from "./git-index.js";
import type { HostFiles } from "./host-files.js";

/**
 * Where the working trees of the submodules of a repository are, and of their submodules, at most MAX_SUBMODULES: those in its
 * index, and those with a git directory in `modules`. `git status` runs git in each of them, with the configuration that its `.git`
 * leads to. No sandboxed command can write `modules`, and only one that may commit the index.
 * @param gitDirectory `.git`, or what such a file refers to
 * @param top working tree of the repository
 */
export function listSubmodules(gitDirectory: string, top: string, files: HostFiles): string[] {
  const found = new Set<string>();
  let directories = MAX_SUBMODULE_DIRECTORIES;
  const searchRepository = (directory: string, tree: string, config: string): void => {
    const index = files.bytes(join(directory, "index"), MAX_INDEX_BYTES);
    if (index !== undefined) {
      const oidBytes = /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 32 : 20;
      for (const path of listGitlinks(index, oidBytes)) add(join(tree, path));
    }
    searchModules(join(directory, "modules"), "", tree);
  };
  const searchModules = (directory: string, name: string, tree: string): void => {
    if (files.kind(directory) !== "directory") return;
    for (const entry of files.list(directory)) {
      directories -= 1;
      if (directories < 0) return;
      if (entry.kind !== "directory") continue;
      const inner = join(directory, entry.name);
      const innerName = join(name, entry.name);
      if (files.kind(join(inner, "HEAD")) === "missing") {
        searchModules(inner, innerName, tree); // a name may have slashes
        continue;
      }
      const config = readConfig(inner, files);
      const named = readWorktree(config);
      // A submodule that was deinitialized: its path is its name, unless it was moved.
      const worktree = named === undefined ? join(tree, innerName) : resolve(inner, named);
      add(worktree);
      searchRepository(inner, worktree, config);
    }
  };
  const add = (worktree: string) => void (found.size < MAX_SUBMODULES && found.add(worktree));
  if (files.kind(gitDirectory) === "directory") searchRepository(gitDirectory, top, readConfig(gitDirectory, files));
  return [...found];
}

const readConfig = (gitDirectory: string, files: HostFiles): string =>
  files.bytes(join(gitDirectory, "config"), MAX_INDEX_BYTES)?.toString() ?? "";

/** `core.worktree` in the text of a configuration that git has written. */
function readWorktree(config: string): string | undefined {
  const [, quoted, plain] = /^\s*worktree\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^"\n]*?))\s*$/im.exec(config) ?? [];
  return quoted?.replace(/\\(.)/g, "$1") ?? plain;
}
