import { basename, dirname, join, resolve } from "node:path/posix";
import { CLOSED_IN_GIT_DIRECTORY, isWithin } from "@codex/permissions";
import { isGitDirectory } from "./git-directory.js";
import { type GitConfigFile, type GitPath, listGitPaths } from "./git-paths.js";
import type { HostFiles } from "./host-files.js";
import type { ProfileEntry } from "./profile.js";
import { listSubmodules, type Submodule } from "./submodules.js";

/** Names of files on which programs outside of the sandbox rely: read-only below every writable directory. */
const PROTECTED_NAMES = [".git", ".agents", ".codex", ".aws"] as const;

/**
 * Read-only entries for protected paths; a path that has an entry already keeps that one. `toEntry` resolves a path to a
 * read-only entry, and throws for one that crosses a symbolic link the command could replace.
 */
export function listProtected(
  roots: readonly ProfileEntry[],
  entries: ReadonlyMap<string, ProfileEntry>,
  files: HostFiles,
  toEntry: (path: string, kind?: "file") => ProfileEntry | undefined,
): ProfileEntry[] {
  const found: ProfileEntry[] = [];
  const add = (path: string, kind?: "file") => {
    // In a directory like /tmp the link of another user is not the command's to replace, and must not stop everybody's commands.
    if (entries.has(path) || (files.isForeign(path) && files.isShared(dirname(path)))) return;
    const entry = toEntry(path, kind);
    if (entry === undefined || entries.has(entry.path)) return;
    if (roots.some((root) => isWithin(entry.path, root.path))) found.push(entry);
  };
  // A worktree whose main git directory was opened: its own part of it is opened as well, and closed where that one is.
  const openWorktree = (directory: string) => {
    const real = files.real(directory);
    if (real !== directory || entries.has(real) || files.kind(real) !== "directory") return;
    found.push({ path: real, access: "write", kind: "directory" });
    for (const name of CLOSED_IN_GIT_DIRECTORY) add(join(real, name));
  };
  for (const { path, kind } of roots) {
    if (kind !== "directory" || isInsideProtected(path, roots)) continue;
    for (const name of PROTECTED_NAMES) {
      const inner = join(path, name);
      add(inner);
      if (name !== ".git") continue;
      const directories = listGitDirectories(inner, files);
      const [own, ...shared] = directories;
      const main = shared.find((directory) => entries.get(directory)?.access === "write");
      if (own !== undefined && main !== undefined && dirname(own) === join(main, "worktrees")) openWorktree(own);
      else for (const directory of directories) add(directory);
    }
    for (const dotGit of listSubmoduleLinks(path, files)) add(dotGit);
    if (isGitDirectory(path, files)) for (const name of CLOSED_IN_GIT_DIRECTORY) add(join(path, name));
    for (const named of listGitPaths(listGitConfigs(path, files), files)) {
      if (isProtectable(named, path, files)) add(named.path, named.kind === "file" ? "file" : undefined);
    }
    for (const config of files.gitConfigs) if (isProtectable(asFile(config), path, files)) add(config, "file");
    // Writing there changes kernel settings of the whole host.
    if (path === "/") add("/sys");
  }
  return found;
}

const asFile = (path: string): GitPath => ({ path, kind: "file", isWord: false });

/** The files whose settings git uses in the repositories that a directory is the top of, or in. */
function* listGitConfigs(path: string, files: HostFiles): Iterable<GitConfigFile> {
  for (const config of files.gitConfigs) yield { path: config, top: path };
  for (const top of listTops(path)) {
    const dotGit = join(top, ".git");
    const bare = top === path && isGitDirectory(path, files) ? [path] : [];
    if (bare.length === 0 && files.kind(dotGit) === "missing") continue;
    const directories = new Set([...bare, dotGit, ...listGitDirectories(dotGit, files)]);
    for (const directory of directories) {
      for (const name of ["config", "config.worktree"]) yield { path: join(directory, name), top };
    }
  }
}

/**
 * Whether what git runs can be made read-only within a writable root: not the root itself, and not what a link leads to, which the
 * command could replace.
 */
function isProtectable({ path, isWord }: GitPath, root: string, files: HostFiles): boolean {
  if (path === root || !isWithin(path, root)) return false;
  const real = files.real(path);
  if (real === undefined) return !isWord && isPlain(dirname(path), files);
  return real === path && (!isWord || files.isPlainFile(path));
}

/** Files in CODEX_HOME that `codex` trusts; they may be symbolic links to other places. */
const TRUSTED_NAMES = ["config.toml", "rules", "cache"];

/**
 * Read-only entries for CODEX_HOME, wherever it is, for what is linked from there, and for servers that `codex` has installed here.
 * Paths below it that are explicitly writable stay so. @param refuse throws for a writable root that could only be protected as a whole
 */
export function listCodexHome(
  roots: readonly ProfileEntry[],
  files: HostFiles,
  toEntry: (path: string) => ProfileEntry | undefined,
  refuse: (root: string, home: string) => never,
): ProfileEntry[] {
  const { codexHome, serverCache } = files;
  if (codexHome === undefined || roots.length === 0) return [];
  const home = files.real(codexHome) ?? codexHome;
  const isOpen = (path: string) => roots.some((root) => isWithin(path, root.path));
  for (const root of roots) if (root.path === home) refuse(root.path, codexHome);
  const linked = TRUSTED_NAMES.map((name) => [join(home, name), files.real(join(home, name))] as const)
    .filter(([path, real]) => real !== undefined && real !== path && isOpen(real))
    .map(([, real]) => real!);
  for (const path of linked) if (roots.some((root) => root.path === path)) refuse(path, codexHome);
  const isCacheOpen = serverCache !== undefined && isOpen(realOfMissing(serverCache, files));
  const wanted = [...(isOpen(home) ? [codexHome] : []), ...linked, ...(isCacheOpen ? [serverCache] : [])];
  return wanted.map(toEntry).filter((entry) => entry !== undefined);
}

/** The real path of something that may be missing in its directory. */
const realOfMissing = (path: string, files: HostFiles): string =>
  files.real(path) ?? join(files.real(dirname(path)) ?? dirname(path), basename(path));

/** A writable directory inside of a protected one is not a project of its own. */
const isInsideProtected = (path: string, roots: readonly ProfileEntry[]): boolean =>
  roots.some((root) => {
    if (root.path === path || !isWithin(path, root.path)) return false;
    const [first] = path.slice(root.path === "/" ? 1 : root.path.length + 1).split("/");
    return (PROTECTED_NAMES as readonly string[]).includes(first!);
  });

/** What a `.git` file refers to: the git directory of a worktree or submodule, and the one it shares with others. */
function listGitDirectories(dotGit: string, files: HostFiles): string[] {
  const directory = readGitFile(dotGit, files);
  if (directory === undefined) return [];
  // `.git/worktrees/NAME`: without the file, the directory above is the shared one.
  const above = basename(dirname(directory)) === "worktrees" ? dirname(dirname(directory)) : undefined;
  const found = [directory, readCommonDirectory(directory, files), above];
  return found.filter((path): path is string => path !== undefined && path !== "/");
}

/** `.git` in the submodules of the repositories that a directory is the top of, or in. */
function* listSubmoduleLinks(path: string, files: HostFiles): Iterable<string> {
  for (const { path: worktree, isInIndex } of listSubmodulesAround(path, files)) {
    const real = files.real(worktree);
    if (real !== undefined && files.kind(real) === "directory") yield join(real, ".git");
    else if (real === undefined && isInIndex && isPlain(dirname(worktree), files)) yield join(worktree, ".git");
  }
}

function* listSubmodulesAround(path: string, files: HostFiles): Iterable<Submodule> {
  for (const top of listTops(path)) {
    const dotGit = join(top, ".git");
    for (const directory of new Set([dotGit, ...listGitDirectories(dotGit, files)])) {
      yield* listSubmodules(directory, top, files);
    }
  }
}

/** A directory and those around it: each may be the top of a repository. */
function* listTops(path: string): Iterable<string> {
  for (let top = path; ; top = dirname(top)) {
    yield top;
    if (top === "/") return;
  }
}

/** Whether git would find a repository whose top is around a directory. */
export function isBelowRepository(path: string, files: HostFiles): boolean {
  return path !== "/" && [...listTops(dirname(path))].some((top) => isRepository(join(top, ".git"), files));
}

function isRepository(dotGit: string, files: HostFiles): boolean {
  if (files.isForeign(dotGit)) return false;
  const directory = readGitFile(dotGit, files) ?? files.real(dotGit);
  return directory !== undefined && files.kind(join(directory, "HEAD")) !== "missing";
}

/** Whether the part of a path that exists is a directory, and no link leads there. */
function isPlain(path: string, files: HostFiles): boolean {
  const kind = files.kind(path);
  return kind === "missing" ? isPlain(dirname(path), files) : kind === "directory" && files.real(path) === path;
}

function readGitFile(dotGit: string, files: HostFiles): string | undefined {
  if (files.kind(dotGit) !== "file" || files.isForeign(dotGit)) return undefined;
  const named = /^gitdir:(.*\S)/.exec(files.firstLine(dotGit) ?? "")?.[1]?.trimStart();
  return named === undefined ? undefined : resolve(dirname(dotGit), named);
}

function readCommonDirectory(directory: string, files: HostFiles): string | undefined {
  const common = files.firstLine(join(directory, "commondir"))?.trim();
  return common === undefined ? undefined : resolve(directory, common);
}

/**
 * What protecting writable roots accesses besides the roots, each list accessing only what earlier ones name: links, git files
 * and submodules may lead to mounts that do not answer.
 */
export const ACCESSED_FOR_ROOTS: readonly ((roots: readonly string[], files: HostFiles) => Iterable<string>)[] = [
  function* (roots, { codexHome, gitConfigs, serverCache }) {
    for (const root of roots) for (const name of PROTECTED_NAMES) yield join(root, name);
    for (const dotGit of listDotGits(roots)) yield dotGit;
    for (const config of gitConfigs) yield config;
    if (codexHome !== undefined) for (const name of TRUSTED_NAMES) yield join(codexHome, name);
    if (serverCache !== undefined) yield serverCache;
  },
  function* (roots, files) {
    for (const dotGit of listDotGits(roots)) {
      const directory = readGitFile(dotGit, files);
      if (directory !== undefined) yield join(directory, "commondir");
    }
  },
  function* (roots, files) {
    for (const dotGit of listDotGits(roots)) {
      for (const directory of [dotGit, ...listGitDirectories(dotGit, files)]) {
        yield directory;
        yield* ["commondir", "config", "config.worktree", "index", "modules"].map((name) => join(directory, name));
      }
    }
  },
  // Included files may name others.
  function* (roots, files) {
    for (const root of roots) for (const { path } of listGitPaths(listGitConfigs(root, files), files, 0)) yield path;
  },
  function* (roots, files) {
    for (const root of roots) for (const { path } of listGitPaths(listGitConfigs(root, files), files)) yield path;
  },
  function* (roots, files) {
    for (const root of roots) {
      for (const { path } of listSubmodulesAround(root, files)) yield join(path, ".git");
    }
  },
];

const listDotGits = (roots: readonly string[]): Set<string> =>
  new Set(roots.flatMap((root) => [...listTops(root)].map((top) => join(top, ".git"))));
