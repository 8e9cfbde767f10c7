import type { Channel } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import type { HostInfo } from "@codex/executor-protocol";

/** A host without tools, such as that of an exec-server, for an executor that provides them. */
export interface ToollessHost {
  /** Creates the backend of one executor; closing it ends its processes. */
  createBackend(): ExecBackend;
  readonly host: HostInfo;
  /** Resolves links in a path of that host. */
  resolvePath(path: string): Promise<string>;
}

/**
 * Starts an executor in this process whose programs run on that host. Closing the channel ends the executor. Injected, as this
 * package does not depend on `@codex/executor`, whose `createHostTools` makes one.
 */
export type HostTools = (host: ToollessHost) => Channel;
