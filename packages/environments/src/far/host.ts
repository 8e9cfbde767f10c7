import type { Channel } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import type { HostInfo } from "@codex/executor-protocol";

/** A host that lacks tools, for an executor that has them. */
export interface ToollessHost {
  /** Processes of one executor: closing it ends them. */
  createBackend(): ExecBackend;
  readonly host: HostInfo;
  /** Resolves links in a path of that host. */
  resolvePath(path: string): Promise<string>;
}

/**
 * Starts an executor in this process whose programs run on that host. Closing the channel ends the executor. Handed in by who
 * has `@codex/executor`.
 */
export type HostTools = (host: ToollessHost) => Channel;
