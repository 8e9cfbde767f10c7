import { dirname, isAbsolute, join, normalize } from "node:path/posix";
import { StartError } from "@codex/exec-backend";
import type { Sandbox } from "@codex/executor-protocol";
import type { RemoteMounts } from "@codex/native";
import { isWithin } from "@codex/permissions";
import { messageOf, toError } from "@codex/values";
import { MAX_MOUNTS } from "../limits.js";
import { findDeniedLinks, isDeniableTarget, listDeniedLinks } from "./denied-links.js";
import { createPatternBudget, expandPattern, expandPatternLater, literalPart } from "./expand-pattern.js";
import { listClosedInGit, listCommitDirectories, listGitPins } from "./git-directory.js";
import type { HostFiles } from "./host-files.js";
import { isGitCommonFile } from "./placeholder-mark.js";
import { byDepth, type PathAccess, type ProfileEntry, type RestrictedFiles, type SandboxProfile } from "./profile.js";
import { ACCESSED_FOR_ROOTS, listCodexHome, listProtected } from "./protected-paths.js";

type Files = Extract<Extract<Sandbox["permissions"], { type: "managed" }>["file_system"], { type: "restricted" }>;
type SandboxPath = Files["entries"][number]["path"];

/** A path as it was requested, with symbolic links. */
interface WantedPath {
  path: string;
  access: PathAccess;
  /** The pattern that it matches: nothing below it is opened again. */
  pattern?: string;
  /** A link in a denied directory leads there. */
  linked?: true;
}

/**
 * What a sandbox means on this host. An inner entry wins over an outer one; on the same path deny wins over write, and
 * write over read; a path that a deny pattern matches stays denied, whatever entries are within it.
 * @param found the matches of its patterns, if they were searched for already
 * @throws StartError `sandbox_invalid` for what cannot be enforced as intended
 */
export function resolveProfile(sandbox: Sandbox, host: HostFiles, found: FoundPatterns = new Map()): SandboxProfile {
  // Hundreds of paths have the same parents.
  const files = { ...host, kind: remember(host.kind), isPlaceholder: remember(host.isPlaceholder) };
  const { permissions } = sandbox;
  if (permissions.type === "disabled") return { fileSystem: "unrestricted", network: "enabled" };
  // Its files are restricted by an outer sandbox; Codex itself restricts the network of such a command.
  if (permissions.type === "external") return { fileSystem: "unrestricted", network: permissions.network };
  const { file_system: fileSystem, network } = permissions;
  if (fileSystem.type === "unrestricted") return { fileSystem: "unrestricted", network };
  const wanted = fileSystem.entries.flatMap((entry) =>
    toPaths(entry, sandbox, files, fileSystem.glob_scan_max_depth, found),
  );
  const minimal = fileSystem.entries.some(({ path }) => path.type === "special" && path.value.kind === "minimal");
  const needed = [files.home, sandbox.cwd, ...(sandbox.workspaceRoots ?? [])].filter((path) => path !== undefined);
  return { fileSystem: { ...settle(wanted, needed, files), minimal }, network };
}

function toPaths(
  { path, access }: Files["entries"][number],
  sandbox: Sandbox,
  files: HostFiles,
  maxDepth: number | undefined,
  found: FoundPatterns,
): WantedPath[] {
  const settled: PathAccess = access === "none" ? "deny" : access;
  if (path.type !== "glob_pattern") {
    const names = namedPaths(path, settled, sandbox, files).map(checkPath);
    const getLinks = (name: string) => {
      const known = found.get(keyOfLinks(name));
      return known === undefined || known instanceof Error ? listDeniedLinks(name, files) : known;
    };
    const links = settled === "deny" ? names.flatMap(getLinks) : [];
    return [
      ...names.map((name): WantedPath => ({ path: name, access: settled })),
      ...links.map((link): WantedPath => ({ path: link, access: settled, linked: true })),
    ];
  }
  return listPatterns(path.pattern, sandbox).flatMap(({ base, pattern }): WantedPath[] => {
    if (settled !== "deny") {
      // A subtree is a path; with any other pattern it would depend on timing whether files that are created later are accessible.
      const root = pattern.replace(/(^|\/)\*\*$/, "");
      if (!/[*?[{]/.test(root)) return [{ path: checkPath(join(base, root)), access: settled }];
      throw invalid(`pattern \`${path.pattern}\` can only be used with access \`deny\``);
    }
    try {
      const known = found.get(keyOf(base, pattern));
      if (known instanceof Error) throw known;
      const matches = known ?? expandPattern(pattern, files, createPatternBudget(maxDepth), base);
      return matches.map((match) => ({ path: match, access: settled, pattern: path.pattern }));
    } catch (cause) {
      throw invalid(messageOf(cause), cause);
    }
  });
}

/**
 * Waits until the remote mounts answer that resolving a sandbox accesses.
 * @throws StartError `sandbox_invalid`
 */
export async function reachNamed(sandbox: Sandbox, files: HostFiles, mounts: RemoteMounts): Promise<void> {
  const { permissions } = sandbox;
  if (permissions.type !== "managed" || permissions.file_system.type === "unrestricted") return;
  const { entries } = permissions.file_system;
  const listNamed = (some: Files["entries"]) =>
    some.flatMap(({ path, access }) =>
      path.type === "glob_pattern"
        ? listPatterns(path.pattern, sandbox).map(({ base, pattern }) => join(base, literalPart(pattern)))
        : namedPaths(path, access === "none" ? "deny" : access, sandbox, files),
    );
  await mounts.reach(listNamed(entries));
  const roots = listNamed(entries.filter(({ access }) => access === "write"));
  for (const list of ACCESSED_FOR_ROOTS) await mounts.reach(list(roots, files));
}

/** The matches of patterns, or why they are not reliable, and where links in denied directories lead; by `keyOf`. */
export type FoundPatterns = ReadonlyMap<string, readonly string[] | Error>;

const keyOf = (base: string, pattern: string): string => `${base}\0${pattern}`;
const keyOfLinks = (directory: string): string => keyOf(directory, "");

/** The paths that a sandbox denies by name. @throws StartError `sandbox_invalid` */
export function listDenied(sandbox: Sandbox, files: HostFiles): string[] {
  const { permissions } = sandbox;
  if (permissions.type !== "managed" || permissions.file_system.type === "unrestricted") return [];
  return permissions.file_system.entries.flatMap(({ path, access }) =>
    path.type === "glob_pattern" || (access !== "deny" && access !== "none")
      ? []
      : namedPaths(path, "deny", sandbox, files).map(checkPath),
  );
}

/** The patterns of a sandbox that are searched for in the file system, and where. @throws StartError `sandbox_invalid` */
export function listSearches(sandbox: Sandbox): { base: string; pattern: string; maxDepth: number | undefined }[] {
  const { permissions } = sandbox;
  if (permissions.type !== "managed" || permissions.file_system.type === "unrestricted") return [];
  const { entries, glob_scan_max_depth: maxDepth } = permissions.file_system;
  return entries.flatMap(({ path, access }) =>
    path.type === "glob_pattern" && (access === "deny" || access === "none")
      ? listPatterns(path.pattern, sandbox).map((one) => ({ ...one, maxDepth }))
      : [],
  );
}

/** Searches for them without blocking this thread. Rejects as `listSearches` throws. */
export async function findPatterns(sandbox: Sandbox, files: HostFiles): Promise<FoundPatterns> {
  const found = new Map<string, readonly string[] | Error>();
  const shared = { ...files, listLater: remember(files.listLater) };
  for (const { base, pattern, maxDepth } of listSearches(sandbox)) {
    const key = keyOf(base, pattern);
    if (found.has(key)) continue;
    const paths = expandPatternLater(pattern, shared, createPatternBudget(maxDepth), base);
    found.set(key, await paths.catch((cause: unknown) => toError(cause)));
  }
  // Most of the defaults are not there.
  const isThere = (directory: string) => files.kind(directory) !== "missing";
  const addLinks = async (directory: string) => {
    found.set(keyOfLinks(directory), isThere(directory) ? await findDeniedLinks(directory, shared) : []);
  };
  await Promise.all(listDenied(sandbox, files).map(addLinks));
  return found;
}

function remember<Value>(read: (path: string) => Value): (path: string) => Value {
  const known = new Map<string, Value>();
  return (path) => {
    const value = known.get(path) ?? read(path);
    known.set(path, value);
    return value;
  };
}

/** How Codex 0.169.0 writes a pattern that applies below each of `workspaceRoots`. */
const ROOTS_PREFIX = "codex-project-roots://";

/** Where a pattern applies: below a directory, whose own name is literal. */
function listPatterns(text: string, { cwd, workspaceRoots }: Sandbox): { base: string; pattern: string }[] {
  if (text.startsWith(ROOTS_PREFIX)) {
    if (workspaceRoots === undefined) throw invalid(`pattern \`${text}\` needs \`workspaceRoots\``);
    return workspaceRoots.map((root) => below(root, text.slice(ROOTS_PREFIX.length)));
  }
  if (/^[\w+.-]+:\/\//.test(text)) throw invalid(`pattern \`${text}\` is of an unknown kind`);
  return [isAbsolute(text) ? below("/", text) : below(cwd ?? "/", text)];
}

function below(base: string, text: string): { base: string; pattern: string } {
  const pattern = normalize(`./${text}`);
  return pattern.startsWith("../") ? below(join(base, ".."), pattern.slice(3)) : { base, pattern };
}

function namedPaths(
  path: Exclude<SandboxPath, { type: "glob_pattern" }>,
  access: PathAccess,
  sandbox: Sandbox,
  { tmpDir }: HostFiles,
): string[] {
  if (path.type === "path") return [path.path];
  const { kind, subpath } = path.value;
  const roots = (): string[] => {
    switch (kind) {
      case "root":
        return ["/"];
      case "current_working_directory":
        return sandbox.cwd === undefined ? [] : [sandbox.cwd];
      case "project_roots":
        if (sandbox.workspaceRoots === undefined) throw invalid("`project_roots` needs `workspaceRoots`");
        return sandbox.workspaceRoots;
      case "tmpdir":
        return sandbox.temporaryDirectories ?? (tmpDir === undefined ? [] : [tmpDir]);
      case "slash_tmp":
        return ["/tmp"];
      case "minimal":
        if (access === "read") return [];
        throw invalid(`\`minimal\` can only be used with access \`read\`, got \`${access}\``);
      case "unknown":
        if (access === "deny") throw invalid("an unknown kind of path cannot be denied");
        return [];
    }
  };
  if (subpath === undefined) return roots();
  if (isAbsolute(subpath) || subpath.split("/").includes("..")) {
    throw invalid(`subpath \`${subpath}\` must be relative and stay below its root`);
  }
  return roots().map((root) => join(root, subpath));
}

function checkPath(path: string): string {
  if (!isAbsolute(path)) throw invalid(`path \`${path}\` is not absolute`);
  if (path.includes("\0")) throw invalid("a path contains a NUL byte");
  const plain = normalize(path);
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain;
}

/** Entries with resolved paths, and those for protected paths, in the order in which they are mounted. */
function settle(
  wanted: readonly WantedPath[],
  needed: readonly string[],
  files: HostFiles,
): Omit<RestrictedFiles, "minimal"> {
  const entries = new Map<string, ProfileEntry>();
  const add = (entry: ProfileEntry) => {
    const former = entries.get(entry.path);
    const isStricter =
      former !== undefined && (RANK[entry.access] > RANK[former.access] || (former.empty && !entry.empty));
    if (former === undefined || isStricter) entries.set(entry.path, entry);
  };
  // Writable paths come first, as they determine which links the command could replace.
  const writable = wanted.filter(({ access }) => access === "write");
  const open = writable.map(({ path }) => files.real(path)).filter((path) => path !== undefined);
  for (const { path } of writable) {
    const { found, missing } = follow(path, open, files);
    if (missing === undefined) add({ path: found, access: "write", kind: realKind(found, files) });
  }
  const roots = [...entries.values()];
  const closedEntry = (path: string, access: "read" | "deny", kind?: "file") =>
    toEntry(path, access, roots, files, kind);
  for (const { path, access, pattern, linked } of wanted) {
    if (access === "write" || linked) continue;
    const entry = named(pattern, () => closedEntry(path, access));
    if (entry !== undefined) add(entry);
  }
  const places = [...needed, ...roots.map(({ path }) => path)];
  for (const { path } of wanted.filter(({ linked }) => linked)) {
    const entry = closedEntry(path, "deny");
    if (entry === undefined || entry.missing || entries.has(entry.path)) continue;
    if (isDeniableTarget(entry.path, places, files)) add(entry);
  }
  const commits = listCommitDirectories(entries, files);
  const written = roots.filter(({ path }) => entries.get(path)?.access === "write");
  for (const entry of listProtected(written, entries, files, (path, kind) => closedEntry(path, "read", kind)))
    add(entry);
  for (const entry of listCodexHome(written, files, (path) => closedEntry(path, "read"), refuseHome)) add(entry);
  const known = (entry: ProfileEntry) => entries.has(entry.path);
  for (const directory of commits) {
    const inGit = listClosedInGit(directory, files, (path) =>
      entries.has(path) ? undefined : closedEntry(path, "read"),
    );
    for (const entry of [...inGit, ...listGitPins(directory, files)]) if (!known(entry)) add(entry);
  }
  const closed = wanted.filter(({ pattern }) => pattern !== undefined).map(({ path }) => files.real(path) ?? path);
  for (const path of entries.keys()) {
    if (closed.some((outer) => path !== outer && isWithin(path, outer))) entries.delete(path);
  }
  // In a closed directory nothing can be created, and what is denied is already.
  for (const [path, { missing, access }] of entries) {
    if ((missing || access === "deny") && getAround(path, entries)?.access === "deny") entries.delete(path);
  }
  for (const pin of listPins([...entries.values()].sort(byDepth)))
    if (!entries.has(pin.path)) entries.set(pin.path, pin);
  if (entries.size > MAX_MOUNTS) {
    throw invalid(`it needs ${entries.size} mounts; the limit is ${MAX_MOUNTS}${describeWidest(wanted)}`);
  }
  return { entries: [...entries.values()].sort(byDepth), ...(commits.length === 0 ? {} : { commits }) };
}

/** Names the pattern by which a path was found in the reason why it cannot be closed. */
function named<Value>(pattern: string | undefined, resolve: () => Value): Value {
  try {
    return resolve();
  } catch (error) {
    if (pattern === undefined || !(error instanceof StartError)) throw error;
    throw new StartError(error.code, `${error.message}; pattern \`${pattern}\` matches it`, { cause: error });
  }
}

/** The pattern with the most matches, and one of them. */
function describeWidest(wanted: readonly WantedPath[]): string {
  const matches = new Map<string, string[]>();
  for (const { path, pattern } of wanted) {
    if (pattern === undefined) continue;
    const paths = matches.get(pattern);
    if (paths === undefined) matches.set(pattern, [path]);
    else paths.push(path);
  }
  const [widest] = [...matches].sort(([, one], [, other]) => other.length - one.length);
  if (widest === undefined) return "";
  const [pattern, paths] = widest;
  return `; pattern \`${pattern}\` matches ${paths.length} paths, such as \`${paths[0]}\``;
}

/** The innermost entry around a path. */
function getAround(path: string, entries: ReadonlyMap<string, ProfileEntry>): ProfileEntry | undefined {
  for (let at = path; at !== "/"; ) {
    at = dirname(at);
    const entry = entries.get(at);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function refuseHome(root: string, home: string): never {
  throw invalid(
    `it makes \`${root}\` writable, and the rules and settings of codex are there (CODEX_HOME is \`${home}\`); ` +
      "give CODEX_HOME a directory of its own, or work in another one",
  );
}

const RANK: Readonly<Record<PathAccess, number>> = { read: 0, write: 1, deny: 2 };

/** A missing path matters only where the command could create it. @param kind what keeps its name free; default a directory */
function toEntry(
  path: string,
  access: PathAccess,
  roots: readonly ProfileEntry[],
  files: HostFiles,
  kind?: "file",
): ProfileEntry | undefined {
  const writable = roots.map((root) => root.path);
  const { found, missing } = follow(path, writable, files);
  if (missing === undefined) return { path: found, access, kind: realKind(found, files) };
  if (!writable.some((root) => isWithin(found, root))) return undefined;
  const isFile = isGitCommonFile(missing) || (kind === "file" && missing === path);
  const isOnTheWay = access === "deny" && missing.length < path.length;
  return {
    path: missing,
    access,
    kind: isFile ? "file" : "directory",
    missing: true,
    ...(isOnTheWay ? { empty: true } : {}),
  };
}

const realKind = (path: string, files: HostFiles) => (files.kind(path) === "directory" ? "directory" : "file");

/**
 * Resolves a path: the part that exists, without links, and the first name that does not. A link that the command could
 * replace may lead anywhere: the command to be restricted would decide what a path through it means. Each name is examined
 * only once, so that no link can replace it in between.
 */
function follow(path: string, writable: readonly string[], files: HostFiles): { found: string; missing?: string } {
  let found = "/";
  for (const part of path.split("/").filter(Boolean)) {
    const next = join(found, part);
    const kind = files.kind(next);
    if (kind === "link" && writable.some((root) => isWithin(found, root))) {
      throw invalid(
        `\`${path}\` crosses the symbolic link \`${next}\`, which the command could replace; ` +
          "name the directory it leads to, or replace the link by a directory",
      );
    }
    const real = kind === "link" ? files.real(next) : kind === "missing" ? undefined : next;
    if (real === undefined || files.isPlaceholder(real)) return { found, missing: next };
    found = real;
  }
  return { found };
}

/**
 * A directory with a mount below it could be renamed, and a new one put in its place: mount points cannot. That applies to
 * directories around a writable one as well, which has protected names in it.
 */
function listPins(entries: readonly ProfileEntry[]): ProfileEntry[] {
  const pins = new Map<string, ProfileEntry>();
  for (const { path } of entries) {
    const around = entries.filter((outer) => outer.path !== path && isWithin(path, outer.path)).at(-1);
    if (around?.access !== "write") continue;
    for (let parent = join(path, ".."); parent !== around.path; parent = join(parent, "..")) {
      pins.set(parent, { path: parent, access: "write", kind: "directory", pin: true });
    }
  }
  return [...pins.values()];
}

export const invalid = (problem: string, cause?: unknown): StartError =>
  new StartError("sandbox_invalid", `the sandbox cannot be enforced: ${problem}`, { cause });
