import type { Sandbox, SandboxSupport } from "@codex/executor-protocol";
import { CLOSED_IN_GIT_DIRECTORY, PROTECTED_NAMES, WRITTEN_IN_GIT_DIRECTORY } from "./git-directory.js";
import { isWithin } from "./paths.js";
import { describeEntry, getEntryPaths, type NamedPlaces, type SandboxEntry } from "./sandbox-entry.js";

/** The most that an executor lets any command do. */
export type Ceiling = NonNullable<SandboxSupport["ceiling"]>;

/** The properties of a command that a ceiling limits. */
export interface BoundedCommand {
  /** Absolute. */
  cwd: string;
  /** Null and absent: none. */
  sandbox?: Sandbox | null | undefined;
}

/** Properties of the host of the ceiling that `findExcess` needs. */
export interface CeilingContext extends NamedPlaces {
  /** Resolves the symlinks of a path. The roots of the ceiling are resolved paths. */
  resolve(path: string): string;
}

/** The paths that `findExcess` resolves. */
export interface BoundedPaths {
  /** Where the command starts, and what may be written. */
  opened: readonly string[];
  /** What is only readable or not even that. */
  closed: readonly string[];
}

/** The absolute paths that a command names, before links are resolved. */
export function getBoundedPaths({ cwd, sandbox }: BoundedCommand, places: NamedPlaces): BoundedPaths {
  if (sandbox === null || sandbox === undefined) return { opened: [cwd], closed: [] };
  const named = (isWritten: boolean) =>
    getEntries(sandbox)
      .filter(({ access }) => (access === "write") === isWritten)
      .flatMap((entry) => getEntryPaths(entry, sandbox, places) ?? []);
  return { opened: [cwd, "/tmp", ...places.temporaryDirectories, ...named(true)], closed: named(false) };
}

/**
 * Why a command exceeds a ceiling; undefined when it does not. The effect of the sandbox is compared, not how it is
 * written: every place it opens for writing, wherever its links lead, the network, and where the command starts.
 */
export function findExcess(command: BoundedCommand, ceiling: Ceiling, context: CeilingContext): string | undefined {
  return findOutsideStart(command, ceiling, context) ?? findOpenSandbox(command, ceiling, context);
}

function findOutsideStart({ cwd }: BoundedCommand, { roots }: Ceiling, context: CeilingContext): string | undefined {
  if (roots.length === 0) return undefined;
  if (findAmbiguity(cwd) === undefined && roots.some((root) => isWithin(context.resolve(cwd), root))) return undefined;
  return `commands are started in ${list(roots)} only, not in \`${cwd}\``;
}

function findOpenSandbox(command: BoundedCommand, ceiling: Ceiling, context: CeilingContext): string | undefined {
  const { mode, network } = ceiling;
  if (mode === "danger-full-access" && network) return undefined;
  const { sandbox } = command;
  if (sandbox === null || sandbox === undefined) return `a sandbox is needed: ${allows(ceiling)}`;
  const { permissions } = sandbox;
  if (permissions.type !== "managed") {
    return `an enforced sandbox is needed, which permissions \`${permissions.type}\` are not: ${allows(ceiling)}`;
  }
  if (permissions.network === "enabled" && !network) return "network access is not allowed";
  if (mode === "danger-full-access") return undefined;
  if (permissions.file_system.type === "unrestricted") return `writing everywhere is asked for: ${allows(ceiling)}`;
  const writes = permissions.file_system.entries.filter(({ access }) => access === "write");
  const found = writes.map((entry) => findOpenEntry(entry, sandbox, ceiling, context));
  return found.find((problem) => problem !== undefined);
}

function findOpenEntry(
  entry: SandboxEntry,
  sandbox: Sandbox,
  ceiling: Ceiling,
  context: CeilingContext,
): string | undefined {
  const named = describeEntry(entry);
  if (ceiling.mode === "read-only") return `writing ${named} is asked for: ${allows(ceiling)}`;
  const paths = getEntryPaths(entry, sandbox, context);
  if (paths === undefined) return `writing ${named} is asked for, which names no directory before the command runs`;
  for (const path of paths) {
    const ambiguity = findAmbiguity(path);
    if (ambiguity !== undefined) return `writing ${named}: ${ambiguity}`;
    const real = context.resolve(path);
    if (real === "/" || !getWritableRoots(ceiling, context).some((root) => isWithin(real, root))) {
      const leads = real === path ? "" : `, which is \`${real}\``;
      return `writing ${named}${leads} is asked for: ${allows(ceiling)}`;
    }
    const opened = findOpenedProtection(real, sandbox, ceiling, context);
    if (opened !== undefined) return `writing ${named} is asked for, which would open \`${opened}\``;
  }
  return undefined;
}

/** The mode includes the directories for temporary files, as it does when a sandbox is chosen. */
const getWritableRoots = ({ roots }: Ceiling, { resolve, temporaryDirectories }: CeilingContext): readonly string[] =>
  roots.length === 0 ? ["/"] : [...roots, ...["/tmp", ...temporaryDirectories].map(resolve)];

/**
 * A protected name below a writable directory that this entry makes writable. Only a git directory may be, as long as what git
 * runs and trusts in it is closed again.
 */
function findOpenedProtection(
  real: string,
  sandbox: Sandbox,
  { roots }: Ceiling,
  context: CeilingContext,
): string | undefined {
  const resolved = (access: (entry: SandboxEntry) => boolean) =>
    getEntries(sandbox)
      .filter(access)
      .flatMap((entry) => (getEntryPaths(entry, sandbox, context) ?? []).map((path) => context.resolve(path)));
  const above = roots.length > 0 ? roots : resolved(({ access }) => access === "write");
  const holders = above.filter((root) => root !== real && isWithin(real, root));
  const closed = new Set(resolved(({ access }) => access !== "write"));
  for (const holder of holders) {
    const names = real.slice(holder === "/" ? 1 : holder.length + 1).split("/");
    const at = names.findIndex((name) => PROTECTED_NAMES.includes(name));
    if (at === -1) continue;
    const opened = names[at] === ".git" ? findOpenGitName(real, names.slice(at + 1), closed) : real;
    if (opened !== undefined) return opened;
  }
  return undefined;
}

/** @param names the path below `.git`. */
function findOpenGitName(real: string, names: readonly string[], closed: ReadonlySet<string>): string | undefined {
  const inner = names[0] === "worktrees" && names.length >= 2 ? names.slice(2) : names;
  const [first] = inner;
  if (first !== undefined) return WRITTEN_IN_GIT_DIRECTORY.includes(first) ? undefined : real;
  const open = CLOSED_IN_GIT_DIRECTORY.find((name) => !closed.has(`${real}/${name}`));
  return open === undefined ? undefined : `${real}/${open}`;
}

function getEntries({ permissions }: Sandbox): readonly SandboxEntry[] {
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") return [];
  return permissions.file_system.entries;
}

/** Why a path could be interpreted differently by the program that uses it and the one that checks it; undefined if it could not. */
function findAmbiguity(path: string): string | undefined {
  if (!path.startsWith("/")) return `\`${path}\` is not absolute`;
  if (path.split("/").includes("..")) return `\`${path}\` has a \`..\` in it`;
  return path.includes("\0") ? "a path has a NUL in it" : undefined;
}

function allows({ mode, roots, network }: Ceiling): string {
  const where = mode === "workspace-write" && roots.length > 0 ? ` in ${list(roots)}` : "";
  return `this executor allows at most \`${mode}\`${where}${network ? "" : " without network"}`;
}

const list = (roots: readonly string[]) => roots.map((root) => `\`${root}\``).join(", ");
