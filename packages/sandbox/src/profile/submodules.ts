import { join, resolve } from "node:path/posix";
import { MAX_INDEX_BYTES, MAX_SUBMODULE_DIRECTORIES, MAX_SUBMODULES } from "../limits.js";
import { listGitlinks } from "./git-index.js";
import type { HostFiles } from "./host-files.js";

/** The working tree of a submodule. */
export interface Submodule {
  path: string;
  /** Named by the index of its repository, so git looks for it there even while its directory is missing. */
  isInIndex: boolean;
}

/**
 * The submodules of a repository, and theirs, at most MAX_SUBMODULES: those in its index, and those with a git directory in
 * `modules`. `git status` runs git in each of them, with the configuration that its `.git` leads to. No sandboxed command can
 * write `modules`, and only one that may commit the index.
 * @param gitDirectory `.git`, or what such a file refers to
 * @param top working tree of the repository
 */
export function listSubmodules(gitDirectory: string, top: string, files: HostFiles): Submodule[] {
  const found = new Map<string, Submodule>();
  const add = (submodule: Submodule) => {
    if (found.size < MAX_SUBMODULES && !found.has(submodule.path)) found.set(submodule.path, submodule);
  };
  let directories = MAX_SUBMODULE_DIRECTORIES;
  const searchRepository = (directory: string, tree: string, config: string): void => {
    const parse = OBJECT_FORMAT.test(config) ? parseSha256 : parseSha1;
    for (const path of files.parsed(join(directory, "index"), MAX_INDEX_BYTES, parse) ?? []) {
      add({ path: join(tree, path), isInIndex: true });
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
      add({ path: worktree, isInIndex: false });
      searchRepository(inner, worktree, config);
    }
  };
  const directory = files.real(gitDirectory);
  if (directory !== undefined && files.kind(directory) === "directory") {
    searchRepository(directory, top, readConfig(directory, files));
  }
  return [...found.values()];
}

const OBJECT_FORMAT = /^[ \t]*objectformat[ \t]*=[ \t]*sha256[ \t]*$/im;

const parseSha1 = (index: Buffer) => listGitlinks(index, 20);
const parseSha256 = (index: Buffer) => listGitlinks(index, 32);
const parseText = (config: Buffer) => config.toString();

/** The configuration of a git directory; that of a worktree is in the directory that it shares with others. */
function readConfig(gitDirectory: string, files: HostFiles): string {
  const common = files.firstLine(join(gitDirectory, "commondir"))?.trim();
  return files.parsed(join(resolve(gitDirectory, common ?? "."), "config"), MAX_INDEX_BYTES, parseText) ?? "";
}

/** `core.worktree` in the text of a configuration that git has written. */
function readWorktree(config: string): string | undefined {
  const [, quoted, plain] =
    /^[ \t]*worktree[ \t]*=(?:[ \t]*"((?:[^"\\\n]|\\.)*)"[ \t]*|([^"\n]*))$/im.exec(config) ?? [];
  return quoted?.replace(/\\(.)/g, "$1") ?? plain?.trim();
}
