/**
 * File access of an environment. Paths are absolute and native to its host. `sandbox` is passed through to the environment's
 * file calls and enforced by its host; absent: no sandbox. Every failure is an Error with the host's message; a missing file
 * has the `code` -32004.
 */
export interface AgentFiles {
  /** `size`: bytes, when known from `getMetadata`. */
  readFile(path: string, options?: FileCallOptions & { size?: number }): Promise<Uint8Array>;
  /**
   * Creates a file or replaces its content in place. Hosts that report a `mode` with `extended` of `getMetadata` support the options,
   * others ignore them. `mode`: permission bits to set. `atomic`: a crash does not lose the old content. `expected`, with `atomic`: the
   * content that is replaced, null for no file; anything else is not overwritten.
   */
  writeFile(
    path: string,
    bytes: Uint8Array,
    options?: FileCallOptions & { mode?: number; atomic?: boolean; expected?: Uint8Array | null },
  ): Promise<void>;
  createDirectory(path: string, options?: FileCallOptions & { recursive?: boolean }): Promise<void>;
  /** Follows symlinks, unless told not to: then a path that is one, or leads through one, is an error. */
  getMetadata(
    path: string,
    options?: FileCallOptions & { extended?: boolean; followSymlinks?: boolean },
  ): Promise<AgentFileMetadata>;
  /** Resolves symlinks; returns a `file:` URI. */
  canonicalize(path: string, options?: FileCallOptions): Promise<string>;
  /** Removes a file, a symlink (not its target) or, with `recursive`, a directory. */
  remove(path: string, options?: FileCallOptions & { recursive?: boolean; force?: boolean }): Promise<void>;
  /** Copies a file with its permissions. */
  copy(from: string, to: string, options: FileCallOptions & { recursive: boolean }): Promise<void>;
  /** Files and directories below a directory; paths are `file:` URIs. */
  walk(path: string, options: WalkOptions, sandbox?: unknown): Promise<WalkedFiles>;
}

/** Options of every file call. */
export interface FileCallOptions {
  sandbox?: unknown;
}

/** Metadata of a file. */
export interface AgentFileMetadata {
  isFile: boolean;
  isDirectory: boolean;
  /** Whether the path itself is a symlink. */
  isSymlink: boolean;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970. */
  modifiedAtMs: number;
  /** Permission bits, when the host reports them. */
  mode?: number;
}

/** Limits of a walk. */
export interface WalkOptions {
  maxDepth: number;
  maxDirectories: number;
  maxEntries: number;
  followDirectorySymlinks: boolean;
  pruneHiddenDirectories: boolean;
}

/** Result of a walk. */
export interface WalkedFiles {
  entries: readonly { path: string; kind: "file" | "directory" }[];
  errors: readonly { path: string; message: string }[];
  /** A limit was reached. */
  truncated: boolean;
}

/** Whether an error means that a file does not exist. */
export const isMissing = (error: unknown): boolean => codeOf(error) === -32004;

/** Whether an error of `getMetadata` that follows no symlinks means that the path is one. */
export const isLinkError = (error: unknown): boolean => codeOf(error) === -32600;

/** Whether a file was not written because its content is not the expected one. */
export const isChangedError = (error: unknown): boolean => codeOf(error) === -32011;

/** Code of the exec-server protocol. */
const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined;

/** Extracts the path of a `file:` URI; invalid UTF-8 stays percent-encoded. */
export function pathOfFileUrl(url: string): string {
  const path = url.replace(/^file:\/\/[^/]*/, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
