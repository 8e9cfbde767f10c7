import type { Channel } from "@codex/channel";
import type { Sandbox } from "@codex/executor-protocol";
import type { AgentFiles } from "@codex/file-tools";

/**
 * Connects to the files of an executor's host, over channels to its exec-server: `connectFiles` of `@codex/environments`. Injected, as this package does
 * not depend on the exec-server.
 */
export type FileConnector = (open: (signal: AbortSignal) => Promise<Channel>) => Promise<HostFiles>;

/** The sandbox of a file call; null for none. */
interface InSandbox {
  sandbox: Sandbox | null;
}

/** Files of a host, by absolute paths. For a missing file, calls reject with an Error with the `code` -32004. */
export interface HostFiles {
  readFile(path: string, options: InSandbox & { size: number }): Promise<Uint8Array>;
  /** `atomic`: a crash does not lose the old content, if the host supports that. */
  writeFile(path: string, bytes: Uint8Array, options: InSandbox & { atomic: true }): Promise<void>;
  createDirectory(path: string, options: InSandbox & { recursive: true }): Promise<void>;
  getMetadata(path: string, options: InSandbox): Promise<HostFileKind & { size: number; modifiedAtMs: number }>;
  readDirectory(path: string, options: InSandbox): Promise<readonly (HostFileKind & { fileName: string })[]>;
  remove(path: string, options: InSandbox & { recursive: boolean; force: false }): Promise<void>;
  /** The same files for patches, every call in a sandbox. */
  confine(sandbox: Sandbox | null): AgentFiles;
  /** Idempotent; never rejects. */
  close(): Promise<void>;
}

interface HostFileKind {
  isFile: boolean;
  isDirectory: boolean;
}
