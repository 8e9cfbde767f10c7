import type { Sandbox } from "@codex/executor-protocol";
import type { CallToolOptions } from "../calls/call-options.js";
import type { FileDecision } from "./file-decision.js";

/** The environment of a file, and the approver. */
export interface FileAccessOptions
  extends Pick<CallToolOptions, "signal" | "cwd" | "workspaceRoots" | "environments" | "approver" | "client"> {
  /** Default as for a call of `exec_command` without one. */
  environment?: string;
}

/** Where files are accessed. */
export interface FilePlace {
  /** Name of an attached environment. */
  environment: string;
  /** Absolute directory of the turn. */
  cwd: string;
  /** Absolute directories that belong to the turn, for the sandbox; default `cwd`. */
  workspaceRoots?: readonly string[] | undefined;
}

/** A change of files, as it would be made. */
export interface FileChange extends FilePlace {
  /** Name of the tool; shown and recorded. */
  tool: string;
  /** Absolute paths that are written or removed, both as given and with symlinks resolved. */
  paths: readonly string[];
  /** The whole change as text, shown when approval is requested; its hash is recorded. */
  text: string;
}

/** Metadata of a path, symlinks followed. */
export interface FileStat {
  kind: FileEntry["kind"];
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970. */
  modifiedAtMs: number;
}

/** An entry of a directory. */
export interface FileEntry {
  name: string;
  kind: "file" | "directory" | "other";
}

/**
 * Files on the host of an executor, for callers that act for a model. Paths are absolute, or relative to the directory of the turn. Reading is
 * done in the sandbox that a command there would get. Changes are subject to the same policy as patches: allowed within the writable roots, else
 * they need approval or are refused; allowed ones are made in the sandbox as well. Every access is recorded in the audit log.
 *
 * Methods reject with an OrchestratorError: `unsupported` if the executor serves no files, `refused` by the policy or the approver,
 * `not_found`, and `file_failed` with the reason of the host.
 */
export interface OrchestratorFiles {
  /** At most 64 MiB. */
  read(path: string, options?: FileAccessOptions): Promise<Uint8Array>;
  /** Creates a file, with missing parent directories, or replaces its content. */
  write(path: string, bytes: Uint8Array, options?: FileAccessOptions): Promise<void>;
  /** Undefined if the path does not exist. */
  stat(path: string, options?: FileAccessOptions): Promise<FileStat | undefined>;
  list(path: string, options?: FileAccessOptions): Promise<FileEntry[]>;
  /** Removes a file, a symlink (not its target), or with `recursive` a directory. False if the path does not exist. */
  remove(path: string, options?: FileAccessOptions & { recursive?: boolean }): Promise<boolean>;
  /**
   * Decides about a change that the caller makes itself, such as a patch, and begins its record. Does not connect; rejects with an
   * OrchestratorError `unknown_environment` if the environment is not attached.
   */
  decide(
    change: FileChange,
    options?: Pick<FileAccessOptions, "signal" | "approver" | "client">,
  ): Promise<FileDecision>;
  /** The sandbox of a caller's own file calls, which change nothing. Rejects as `decide`. */
  sandboxOf(place: FilePlace): Promise<{ sandbox: Sandbox | null } | { refused: string }>;
}
