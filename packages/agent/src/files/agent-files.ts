/**
 * Files of an environment, as far as an agent needs them. Paths are absolute and native to its host. `sandbox` is what the
 * environment's file calls take as such, and its host enforces it; none where it is absent. Every failure is an error with
 * the text of the host; that of a missing file has the `code` -32004.
 */
export interface AgentFiles {
  /** `size`: bytes, where known from `getMetadata`. */
  readFile(path: string, options?: FileCallOptions & { size?: number }): Promise<Uint8Array>;
  /**
   * Makes a file or replaces its content in one call; permissions and links stay. `mode`: permission bits that it gets, where
   * the host can do that; `getMetadata` with `extended` has a `mode` there.
   */
  writeFile(path: string, bytes: Uint8Array, options?: FileCallOptions & { mode?: number }): Promise<void>;
  createDirectory(path: string, options?: FileCallOptions & { recursive?: boolean }): Promise<void>;
  /** Of the target where the path is a link. */
  getMetadata(path: string, options?: FileCallOptions & { extended?: boolean }): Promise<AgentFileMetadata>;
  /** The path without links, as a `file:` URI. */
  canonicalize(path: string, options?: FileCallOptions): Promise<string>;
  /** Removes a file, a link (not its target) or, with `recursive`, a directory. */
  remove(path: string, options?: FileCallOptions & { recursive?: boolean; force?: boolean }): Promise<void>;
  /** Copies a file with its permissions. */
  copy(from: string, to: string, options: FileCallOptions & { recursive: boolean }): Promise<void>;
  /** Files and directories below a directory; paths are `file:` URIs. */
  walk(path: string, options: WalkOptions, sandbox?: unknown): Promise<WalkedFiles>;
}

/** What every file call takes. */
export interface FileCallOptions {
  sandbox?: unknown;
}

/** What is known of a file without reading it. */
export interface AgentFileMetadata {
  isFile: boolean;
  isDirectory: boolean;
  /** Of the path itself. */
  isSymlink: boolean;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970. */
  modifiedAtMs: number;
  /** Permission bits, from hosts that tell them. */
  mode?: number;
}

/** How far a walk goes. */
export interface WalkOptions {
  maxDepth: number;
  maxDirectories: number;
  maxEntries: number;
  followDirectorySymlinks: boolean;
  pruneHiddenDirectories: boolean;
}

/** What a walk found. */
export interface WalkedFiles {
  entries: readonly { path: string; kind: "file" | "directory" }[];
  errors: readonly { path: string; message: string }[];
  /** There was more than a limit allowed. */
  truncated: boolean;
}

/** Whether an error says that a file is not there. */
export const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === NOT_FOUND;

/** Of the exec-server protocol. */
const NOT_FOUND = -32004;

/** The path of a `file:` URI. What is no UTF-8 in it stays percent-encoded. */
export function pathOfFileUrl(url: string): string {
  const path = url.replace(/^file:\/\/[^/]*/, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** What a failed call says. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
