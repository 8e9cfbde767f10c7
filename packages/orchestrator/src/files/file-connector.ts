import type { Channel } from "@codex/channel";
import type { Sandbox } from "@codex/executor-protocol";

/**
 * Connects to the files beside an executor, over channels to its exec-server: `connectFiles` of `@codex/environments`. Handed in, as an orchestrator knows
 * no exec-server.
 */
export type FileConnector = (open: (signal: AbortSignal) => Promise<Channel>) => Promise<HostFiles>;

/** Every call is made in its sandbox; null for none. */
interface InSandbox {
  sandbox: Sandbox | null;
}

/** Files of a host, by absolute paths of it. A missing one is an Error with the `code` -32004. */
export interface HostFiles {
  readFile(path: string, options: InSandbox & { size: number }): Promise<Uint8Array>;
  writeFile(path: string, bytes: Uint8Array, options: InSandbox): Promise<void>;
  createDirectory(path: string, options: InSandbox & { recursive: true }): Promise<void>;
  getMetadata(path: string, options: InSandbox): Promise<HostFileKind & { size: number; modifiedAtMs: number }>;
  readDirectory(path: string, options: InSandbox): Promise<readonly (HostFileKind & { fileName: string })[]>;
  remove(path: string, options: InSandbox & { recursive: boolean; force: false }): Promise<void>;
  /** Idempotent; never rejects. */
  close(): Promise<void>;
}

interface HostFileKind {
  isFile: boolean;
  isDirectory: boolean;
}
