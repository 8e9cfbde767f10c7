import { type SandboxMode, sandboxModeSchema } from "@codex/executor-protocol";
import { PolicyError } from "../errors.js";
import { DEFAULT_DENY_READ, EXCEPTION } from "./deny-read.js";
import type { WhenUnavailable } from "./sandbox-selector.js";

/** Which sandbox commands get. Members and defaults correspond to Codex's `sandbox_mode` and `[sandbox_workspace_write]`. */
export interface SandboxSettings {
  mode: SandboxMode;
  /** Absolute directories that may be written beside the workspace. */
  writableRoots?: readonly string[];
  /** Default false. */
  networkAccess?: boolean;
  /** The executor's own directory for temporary files stays read-only. Default false. */
  excludeTmpdirEnvVar?: boolean;
  /** `/tmp` stays read-only. Default false. */
  excludeSlashTmp?: boolean;
  /**
   * Opens what `git commit` writes, and nothing that git runs or trusts: hooks, configuration. Needs `gitDirectories`.
   * Default false.
   */
  allowGitCommit?: boolean;
  /** Where the git directory of a workspace is, on the executor's host. Undefined for none that is to be opened. */
  gitDirectories?: (workspaceRoot: string, environment: string) => GitDirectories | undefined;
  /** Absolute directory of codex' own rules and settings: never written, also where it lies in a writable directory. */
  codexHome?: string;
  /**
   * Paths and patterns that no command reads; `~/` is the home of the executor's host. `!` before a path lets it be read
   * though something before it in the list denies it. Default `DEFAULT_DENY_READ`.
   */
  denyRead?: readonly string[];
  /**
   * On an executor that cannot sandbox: `refuse` the command, or `ask` before it runs without, unless it is known to be
   * safe. Default `refuse`.
   */
  whenUnavailable?: WhenUnavailable;
  /** How many levels of directories below the fixed part of a pattern are searched. */
  globScanMaxDepth?: number;
}

/** One of a main checkout is both; that of a worktree names another as the common one. Absolute, links followed. */
export interface GitDirectories {
  gitDirectory: string;
  commonDirectory: string;
}

export interface CheckedSettings extends SandboxSettings {
  writableRoots: readonly string[];
  denyRead: readonly string[];
}

/** @throws PolicyError that names the setting and its value */
export function checkSettings(settings: SandboxSettings): CheckedSettings {
  const modes = sandboxModeSchema.def.entries;
  if (!Object.hasOwn(modes, settings.mode)) {
    throw bad(`mode: ${JSON.stringify(settings.mode)}; expected ${Object.keys(modes).join(", ")}`);
  }
  const { writableRoots = [], denyRead = DEFAULT_DENY_READ, allowGitCommit, gitDirectories } = settings;
  for (const root of writableRoots) {
    if (!isPlainPath(root))
      throw bad(`writableRoots: ${JSON.stringify(root)}; expected an absolute path without \`..\``);
    if (root === "/") throw bad("writableRoots: `/` is everything; sandbox mode `danger-full-access` says so");
  }
  for (const pattern of denyRead) checkDenyRead(pattern);
  if (allowGitCommit === true && gitDirectories === undefined) {
    throw bad("allowGitCommit needs gitDirectories: where the git directory of a workspace is");
  }
  return { ...settings, writableRoots, denyRead };
}

function checkDenyRead(source: string): void {
  const isException = source.startsWith(EXCEPTION);
  const written = isException ? source.slice(EXCEPTION.length) : source;
  const path = written === "~" || written.startsWith("~/") ? `/${written.slice(2)}` : written;
  if (!isPlainPath(path)) throw bad(`denyRead: ${JSON.stringify(source)}; expected an absolute path or one below ~/`);
  if (isException && /[*?[\]]/.test(path)) {
    throw bad(`denyRead: ${JSON.stringify(source)}; expected a path after \`!\`, without a pattern`);
  }
}

const isPlainPath = (path: string): boolean => path.startsWith("/") && !path.split("/").includes("..");

const bad = (message: string) => new PolicyError(message);
