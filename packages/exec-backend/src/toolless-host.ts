import type { HostInfo } from "@codex/executor-protocol";
import type { ExecBackend } from "./exec-backend.js";

/** A host without tools, such as that of an exec-server, for an executor that provides them. */
export interface ToollessHost {
  /** Creates the backend of one executor, which closes it: that ends its processes. */
  createBackend(): ExecBackend;
  readonly host: HostInfo;
  /** Resolves links in a path of that host. */
  resolvePath(path: string): Promise<string>;
  /** Called when the executor and everything that it started have ended. Must not reject. */
  close?(): Promise<void>;
}
