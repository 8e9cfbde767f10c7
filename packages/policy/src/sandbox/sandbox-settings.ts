import { type SandboxMode, sandboxModeSchema } from "@codex/executor-protocol";
import { PolicyError } from "../errors.js";
import { DEFAULT_DENY_READ, EXCEPTION } from "./deny-read.js";
import type { WhenUnavailable } from "./sandbox-selector.js";

/** Which sandbox commands get. Members and defaults correspond to Codex's `sandbox_mode` and `[sandbox_workspace_write]`. */
export interface SandboxSettings {
  mode: SandboxMode;
  /** Absolute directories that are writable in addition to the workspace. */
  writableRoots?: readonly string[];
  /** Default false. */
  networkAccess?: boolean;
  /** The executor's own directory for temporary files stays read-only. Default false. */
  excludeTmpdirEnvVar?: boolean;
  /** `/tmp` stays read-only. Default false. */
  excludeSlashTmp?: boolean;
  /**
   * Makes writable what `git commit` writes, and nothing that git runs or trusts: hooks, configuration. Needs `gitDirectories`.
   * Default false.
   */
  allowGitCommit?: boolean;
  /** The git directories of a workspace, on the executor's host; undefined if none is to be writable. */
  gitDirectories?: (workspaceRoot: string, environment: string) => GitDirectories | undefined;
  /** Absolute path of CODEX_HOME, with rules and settings: never writable, even within a writable directory. */
  codexHome?: string;
  /**
   * Paths and patterns that no command reads; `~/` is the home of the executor's host. A path after `!` stays readable
   * although an earlier entry denies it. Default `DEFAULT_DENY_READ`.
   */
  denyRead?: readonly string[];
  /**
   * As `denyRead`, and neither approval nor rule nor extra permission lifts it: a command that leaves its sandbox runs in one that denies
   * this alone, as it does with what `profile` denies. Default none.
   */
  requiredDenyRead?: readonly string[];
  /**
   * On an executor that cannot sandbox: `refuse` the command, or `ask` before it runs without a sandbox, unless it is known to be
   * safe. Default `refuse`.
   */
  whenUnavailable?: WhenUnavailable;
  /** How many levels of directories below the fixed part of a pattern are searched. */
  globScanMaxDepth?: number;
  /** Adds to the mode, or takes its place. */
  profile?: PermissionProfile;
}

/** What commands may read and write, as `[permissions.NAME.filesystem]` says it. */
export interface PermissionProfile {
  name: string;
  /** What its entries add to: the mode `read-only`, `workspace-write`, or nothing. */
  base: "read-only" | "workspace" | "none";
  /** Each place once. */
  entries: readonly ProfileEntry[];
  globScanMaxDepth?: number;
}

/** One place of a profile. */
export interface ProfileEntry {
  /** Everything, what programs need to start, the directories of the turn, the executor's own directory for temporary files, `/tmp`, or an absolute path or one below `~/`. */
  place: "root" | "minimal" | "workspace_roots" | "tmpdir" | "slash_tmp" | { path: string };
  /** Below the place. It, and the path, may be a pattern where access is denied. */
  subpath?: string;
  access: "read" | "write" | "deny";
}

/** Both are the same in a main checkout; a worktree shares the common one with others. Absolute, symlinks resolved. */
export interface GitDirectories {
  gitDirectory: string;
  commonDirectory: string;
}

export interface CheckedSettings extends SandboxSettings {
  writableRoots: readonly string[];
  denyRead: readonly string[];
  requiredDenyRead: readonly string[];
}

/** @throws PolicyError that names the setting and its value */
export function checkSettings(settings: SandboxSettings): CheckedSettings {
  const modes = sandboxModeSchema.def.entries;
  if (!Object.hasOwn(modes, settings.mode)) {
    throw bad(`mode: ${JSON.stringify(settings.mode)}; expected ${Object.keys(modes).join(", ")}`);
  }
  const { writableRoots = [], denyRead = DEFAULT_DENY_READ, requiredDenyRead = [] } = settings;
  const { allowGitCommit, gitDirectories } = settings;
  for (const root of writableRoots) {
    if (!isPlainPath(root))
      throw bad(`writableRoots: ${JSON.stringify(root)}; expected an absolute path without \`..\``);
    if (root === "/") throw bad("writableRoots: `/` is everything; use sandbox mode `danger-full-access` for that");
  }
  for (const pattern of denyRead) checkDenyRead("denyRead", pattern);
  for (const pattern of requiredDenyRead) checkDenyRead("requiredDenyRead", pattern);
  if (allowGitCommit === true && gitDirectories === undefined) {
    throw bad("allowGitCommit needs gitDirectories: where the git directory of a workspace is");
  }
  return { ...settings, writableRoots, denyRead, requiredDenyRead };
}

function checkDenyRead(name: string, source: string): void {
  const isException = source.startsWith(EXCEPTION);
  const written = isException ? source.slice(EXCEPTION.length) : source;
  const path = written === "~" || written.startsWith("~/") ? `/${written.slice(2)}` : written;
  if (!isPlainPath(path)) throw bad(`${name}: ${JSON.stringify(source)}; expected an absolute path or one below ~/`);
  if (isException && /[*?[\]]/.test(path)) {
    throw bad(`${name}: ${JSON.stringify(source)}; expected a path after \`!\`, without a pattern`);
  }
}

const isPlainPath = (path: string): boolean => path.startsWith("/") && !path.split("/").includes("..");

const bad = (message: string) => new PolicyError(message);
