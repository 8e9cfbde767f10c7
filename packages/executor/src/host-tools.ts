import { type Channel, createMemoryChannelPair } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import type { HostInfo } from "@codex/executor-protocol";
import type { ResolvePath } from "./admission/ceiling.js";
import { createExecutor, type ExecutorOptions } from "./executor.js";

/** A host that has no tools itself, such as that of an exec-server. */
export interface ToollessHost {
  /** Creates the backend of one executor, which closes it. */
  createBackend(): ExecBackend;
  readonly host: HostInfo;
  resolvePath: ResolvePath;
  /** Called when the executor has ended, and with it what it had started. Must not reject. */
  close?(): Promise<void>;
}

/**
 * Provides hosts without tools with an executor of this process, such as for the option `hostTools` of `@codex/environments`. Each call of the
 * result starts one, which ends when its channel is closed.
 */
export const createHostTools =
  (options: Omit<ExecutorOptions, "backend" | "host" | "resolvePath" | "resumeGraceMs"> = {}) =>
  ({ createBackend, host, resolvePath, close }: ToollessHost): Channel => {
    const [ours, its] = createMemoryChannelPair();
    const executor = createExecutor({ ...options, backend: () => createBackend(), host, resolvePath });
    // A channel in memory is not lost and found again.
    void executor.serve(its, { resumable: false }).finally(() => close?.());
    return ours;
  };
