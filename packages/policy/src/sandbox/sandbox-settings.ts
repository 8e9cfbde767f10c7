import { type SandboxMode, sandboxModeSchema } from "@codex/executor-protocol";
import { PolicyError } from "../errors.js";
import { DEFAULT_DENY_READ, EXCEPTION } from "./deny-read.js";
import type { WhenUnavailable } from "./sandbox-selector.js";

/** Which sandbox commands get. Names and defaults are those of Codex's `sandbox_mode` and `[sandbox_workspace_write]`. */
export interface SandboxSettings {
  mode: SandboxMode;
  /** Absolute directories that may be written beside the workspace. */
  writable_roots?: readonly string[];
  /** Default false. */
  network_access?: boolean;
  /** The executor's own directory for temporary files stays read-only. Default false. */
  exclude_tmpdir_env_var?: boolean;
  /** `/tmp` stays read-only. Default false. */
  exclude_slash_tmp?: boolean;
  /**
   * Opens what `git commit` writes, and nothing that git runs or believes: hooks, configuration. Needs `git_directories`.
   * Default false.
   */
  allow_git_commit?: boolean;
  /** Where the git directory of a workspace is, on the executor's host. Undefined for none that is to be opened. */
  git_directories?: (workspaceRoot: string, environment: string) => GitDirectories | undefined;
  /** Absolute directory of codex' own rules and settings: never written, also where it lies in a writable directory. */
  codex_home?: string;
  /**
   * Paths and patterns that no command reads; `~/` is the home of the executor's host. `!` before a path lets it be read
   * though something before it in the list denies it. Default `DEFAULT_DENY_READ`.
   */
  deny_read?: readonly string[];
  /**
   * On an executor that cannot sandbox: `refuse` the command, or `ask` before it runs without, unless it is known to be
   * safe. Default `refuse`.
   */
  when_unavailable?: WhenUnavailable;
  /** Directories below the fixed part of a pattern that are looked at. */
  glob_scan_max_depth?: number;
}

/** One of a main checkout is both; that of a worktree names another as the common one. Absolute, links followed. */
export interface GitDirectories {
  gitDirectory: string;
  commonDirectory: string;
}

export interface CheckedSettings extends SandboxSettings {
  writable_roots: readonly string[];
  deny_read: readonly string[];
}

/** @throws PolicyError that names the setting and its value */
export function checkSettings(settings: SandboxSettings): CheckedSettings {
  const modes = sandboxModeSchema.def.entries;
  if (!Object.hasOwn(modes, settings.mode)) {
    throw bad(`mode: ${JSON.stringify(settings.mode)}; expected ${Object.keys(modes).join(", ")}`);
  }
  const { writable_roots = [], deny_read = DEFAULT_DENY_READ, allow_git_commit, git_directories } = settings;
  for (const root of writable_roots) {
    if (!isPlainPath(root))
      throw bad(`writable_roots: ${JSON.stringify(root)}; expected an absolute path without \`..\``);
    if (root === "/") throw bad("writable_roots: `/` is everything; sandbox mode `danger-full-access` says so");
  }
  for (const pattern of deny_read) checkDenyRead(pattern);
  if (allow_git_commit === true && git_directories === undefined) {
    throw bad("allow_git_commit needs git_directories: where the git directory of a workspace is");
  }
  return { ...settings, writable_roots, deny_read };
}

function checkDenyRead(source: string): void {
  const isException = source.startsWith(EXCEPTION);
  const written = isException ? source.slice(EXCEPTION.length) : source;
  const path = written === "~" || written.startsWith("~/") ? `/${written.slice(2)}` : written;
  if (!isPlainPath(path)) throw bad(`deny_read: ${JSON.stringify(source)}; expected an absolute path or one below ~/`);
  if (isException && /[*?[\]]/.test(path)) {
    throw bad(`deny_read: ${JSON.stringify(source)}; expected a path after \`!\`, without a pattern`);
  }
}

const isPlainPath = (path: string): boolean => path.startsWith("/") && !path.split("/").includes("..");

const bad = (message: string) => new PolicyError(message);
